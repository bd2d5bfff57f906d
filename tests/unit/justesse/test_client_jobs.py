"""Jobs by way of either client, against the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chassis.errors import Unavailable
from justesse.client import (
    AsyncJustesse,
    DocumentFacts,
    FailedPreconditionError,
    FileToIngest,
    JobState,
    Justesse,
    NotFoundError,
    UnavailableError,
)
from tests.fakes.fake_gateway import GatewayState, fake_gateway, fake_gateway_in_thread


@pytest.fixture
def state() -> GatewayState:
    """A gateway with the workspace "demo"."""
    return GatewayState(workspaces={"demo": {}})


@pytest.fixture
def client(state: GatewayState) -> Iterator[Justesse]:
    """A synchronous client of that gateway."""
    with fake_gateway_in_thread(state) as address, Justesse(address) as client:
        yield client


def test_files_and_bytes_become_one_job(
    client: Justesse, state: GatewayState, tmp_path: Path
) -> None:
    """Each arrives whole, in parts, with what was said about it."""
    large = tmp_path / "large.md"
    large.write_bytes(b"x" * 600_000)
    files = [
        FileToIngest(large, facts=DocumentFacts(external_id="one", category="orders")),
        FileToIngest(b"Bonjour.", "b.md"),
    ]

    job = client.submit("demo", files)

    assert (job.state, job.finished, job.file_count) == (JobState.QUEUED, False, 2)
    first, second = state.job_files[job.job_id]
    assert (first.content, first.header.byte_count) == (b"x" * 600_000, 600_000)
    assert len(first.part_sizes) > 1
    assert (first.header.external_id, first.header.category) == ("one", "orders")
    assert (second.content, second.header.file_name) == (b"Bonjour.", "b.md")


def test_a_watched_job_tells_what_became_of_each_file(client: Justesse) -> None:
    """The last state is final and holds results and reasons."""
    files = [FileToIngest(b"Bonjour.", "a.md"), FileToIngest(b"unreadable", "b.pdf")]
    job = client.submit("demo", files)

    *_, last = client.watch_job("demo", job.job_id)

    good, bad = last.files
    assert (last.state, last.finished, last.passage_count) == (JobState.FAILED, True, 2)
    assert last.state_counts == {JobState.INDEXED: 1, JobState.FAILED: 1}
    assert good.result is not None
    assert (good.state, good.result.passage_count, good.failure) == (JobState.INDEXED, 2, None)
    assert bad.failure is not None
    assert (bad.failure.reason, bad.result) == ("UNREADABLE_FILE", None)
    assert client.get_job("demo", job.job_id) == last


def test_a_file_that_cannot_be_read_makes_no_job(
    client: Justesse, state: GatewayState, tmp_path: Path
) -> None:
    """The error is that of reading it, also where others were sent before it."""
    files = [FileToIngest(b"Bonjour.", "a.md"), FileToIngest(tmp_path / "missing.md")]

    with pytest.raises(FileNotFoundError):
        client.submit("demo", files)

    assert state.jobs == {}


def test_jobs_are_cancelled_and_done_again(client: Justesse) -> None:
    """Each answers with the job as it stands; what went well cannot be done again."""
    job = client.submit("demo", [FileToIngest(b"Bonjour.", "a.md")])

    assert client.cancel_job("demo", job.job_id).state is JobState.CANCELLED
    assert client.retry_job("demo", job.job_id).state is JobState.QUEUED
    *_, _ = client.watch_job("demo", job.job_id)
    with pytest.raises(FailedPreconditionError) as caught:
        client.retry_job("demo", job.job_id)
    assert caught.value.reason == "NOTHING_TO_RETRY"


def test_jobs_are_listed_in_pages(client: Justesse) -> None:
    """Newest first, without files."""
    ids = [client.submit("demo", [FileToIngest(b"x", "a.md")]).job_id for _ in range(3)]

    first = client.list_jobs("demo", page_size=2)
    second = client.list_jobs("demo", page_size=2, page_token=first.next_page_token)

    assert [job.job_id for job in (*first.jobs, *second.jobs)] == ids[::-1]
    assert first.jobs[0].files == ()


async def test_the_asyncio_client_does_the_same(state: GatewayState, tmp_path: Path) -> None:
    """From upload to the last state, and for what goes wrong."""
    file = tmp_path / "a.md"
    file.write_bytes(b"Bonjour." * 100_000)
    async with fake_gateway(state) as address, AsyncJustesse(address) as client:
        job = await client.submit("demo", [FileToIngest(file), FileToIngest(b"y", "b.md")])
        states = [seen.state async for seen in client.watch_job("demo", job.job_id)]
        with pytest.raises(FileNotFoundError):
            await client.submit("demo", [FileToIngest(tmp_path / "missing.md")])
        with pytest.raises(NotFoundError):
            await client.submit("nowhere", [FileToIngest(file)] * 3)
        with pytest.raises(NotFoundError):
            await client.get_job("demo", "0" * 32)

    assert states == [JobState.QUEUED, JobState.EMBEDDING, JobState.INDEXED]
    assert state.job_files[job.job_id][0].content == b"Bonjour." * 100_000
    assert list(state.jobs) == [job.job_id]


def test_a_watch_that_breaks_off_says_so(client: Justesse, state: GatewayState) -> None:
    """What was seen before is not lost; the watch can go on from there."""
    state.watch_breaks.append(Unavailable("the role is lost"))
    job = client.submit("demo", [FileToIngest(b"x", "a.md")])
    watch = client.watch_job("demo", job.job_id)

    seen = [next(watch), next(watch)]
    with pytest.raises(UnavailableError, match="the role is lost"):
        next(watch)
    *_, last = client.watch_job("demo", job.job_id, after_revision=seen[-1].revision)

    assert last.state is JobState.INDEXED
