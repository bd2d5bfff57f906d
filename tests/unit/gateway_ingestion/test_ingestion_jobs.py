"""Jobs of the ingestion role over real connections."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from chassis.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ServiceError,
    Unavailable,
)
from gateway.document_jobs import DocumentJobState, SubmittedFile
from gateway.incoming_files import IncomingFile, IngestionOutcome
from gateway.ingestion import running_jobs
from gateway.ingestion.extraction.process import ExtractionProcesses
from tests.fakes.ingestion_role import LIMIT, Role, in_parts, running_role
from tests.fakes.passage_store import FakePassageStore


@pytest.fixture
def store() -> FakePassageStore:
    """A store in memory, with workspace "w"."""
    store = FakePassageStore()
    store.add_workspace("w")
    return store


@pytest.fixture
async def role(tmp_path: Path, store: FakePassageStore) -> AsyncIterator[Role]:
    """A role over that store."""
    async with running_role(tmp_path, store) as role:
        yield role


async def test_a_batch_is_taken_in_file_by_file(role: Role) -> None:
    """Each has its own result; what cannot be read fails for a reason and stops no other."""
    job = await role.submit(
        ("a.md", b"# Un\n\nBonjour."),
        ("film.mp4", b"x"),
        ("b.pdf", b"no PDF"),
        ("huge.md", b"x" * (LIMIT + 1)),
        ("void.md", b""),
        ("c.txt", "Été à Sète.".encode()),
    )
    done = await role.finished(job)

    assert job.state_counts[DocumentJobState.FAILED] >= 3
    assert [(file.file_index, file.external_id) for file in done.files] == list(
        enumerate(["a.md", "film.mp4", "b.pdf", "huge.md", "void.md", "c.txt"])
    )
    assert [file.failure.reason if file.failure else "" for file in done.files] == [
        "", "UNSUPPORTED_TYPE", "TYPE_MISMATCH", "FILE_TOO_LARGE", "EMPTY_FILE", "",
    ]  # fmt: skip
    reports = [file.report for file in done.files if file.report]
    assert [(one.outcome, one.title) for one in reports] == [
        (IngestionOutcome.CREATED, "Un"),
        (IngestionOutcome.CREATED, "c"),
    ]
    assert (done.state, done.passage_count) == (DocumentJobState.FAILED, 2)
    assert sorted(external_id for _, external_id in role.store.documents) == ["a.md", "c.txt"]
    assert role.received() == [f"{job.job_id}-2"]


async def test_the_same_content_again_says_so(role: Role) -> None:
    """Also within one batch, where the second file waits for the first."""
    job = await role.finished(await role.submit(("a.md", b"Bonjour."), ("a.md", b"Bonjour.")))

    assert [file.report.outcome for file in job.files if file.report] == [
        IngestionOutcome.CREATED,
        IngestionOutcome.UNCHANGED,
    ]


@pytest.mark.parametrize(
    ("files", "workspace", "sizes", "kind", "reason"),
    [
        ([], "w", (), InvalidArgument, "NO_FILES"),
        ([("a.md", b"x")], "nowhere", (), NotFound, "WORKSPACE_NOT_FOUND"),
        ([("a.md", b"x")], "", (), InvalidArgument, "INVALID_ARGUMENT"),
        ([("a.md", b"xy"), ("b.md", b"x")], "w", (2, 2), InvalidArgument, "INCOMPLETE_UPLOAD"),
    ],
    ids=["no file", "unknown workspace", "no workspace", "broken off"],
)
async def test_a_stream_that_is_wrong_as_a_whole_leaves_nothing(
    role: Role,
    files: list[tuple[str, bytes]],
    workspace: str,
    sizes: tuple[int, ...],
    kind: type[ServiceError],
    reason: str,
) -> None:
    """Neither a job nor a file on disk."""
    with pytest.raises(kind) as caught:
        await role.submit(*files, workspace=workspace, sizes=sizes)

    assert caught.value.reason == reason
    assert role.received() == []
    assert (await role.jobs.list_jobs("w")).jobs == ()


async def test_files_of_two_workspaces_are_refused(role: Role) -> None:
    """A job belongs to one; the message names both."""
    role.store.add_workspace("v")

    async def stream() -> AsyncIterator[SubmittedFile]:
        for workspace in ("w", "v"):
            yield SubmittedFile(IncomingFile(workspace, "a.md"), in_parts(b"x"))

    with pytest.raises(InvalidArgument, match=r"'v'.*'w'"):
        await role.jobs.submit_documents(stream())
    assert role.received() == []


async def test_a_lost_retriever_puts_files_off(tmp_path: Path, store: FakePassageStore) -> None:
    """They are taken in when it is back, without anybody's doing, and say why they wait."""
    store.upsert_error = Unavailable("the retriever cannot be reached")
    async with running_role(tmp_path, store, job_attempts=50, job_retry_longest_s=0.05) as role:
        job = await role.submit(("a.md", b"Bonjour."))
        async with asyncio.timeout(20):
            async for state in role.jobs.watch_job("w", job.job_id):
                failures = [file.failure for file in state.files if file.failure]
                if state.state is DocumentJobState.QUEUED and failures:
                    break
        assert failures[0].message == "the retriever cannot be reached"
        store.upsert_error = None
        done = await role.finished(job)

    assert (done.state, done.files[0].failure) == (DocumentJobState.INDEXED, None)
    assert done.files[0].attempt_count > 1


async def test_a_failed_file_is_done_again_by_hand(role: Role) -> None:
    """From what was received, without another upload; a job that went well cannot be."""
    role.store.upsert_error = Unavailable("the retriever cannot be reached")
    job = await role.finished(await role.submit(("a.md", b"Bonjour.")))
    assert job.state is DocumentJobState.FAILED

    role.store.upsert_error = None
    await role.jobs.retry_job("w", job.job_id)
    done = await role.finished(job)

    assert done.state is DocumentJobState.INDEXED
    assert role.received() == []
    with pytest.raises(FailedPrecondition):
        await role.jobs.retry_job("w", job.job_id)


async def test_a_file_in_work_is_cancelled(role: Role) -> None:
    """Nothing of it is stored."""
    embedding = asyncio.Event()

    async def hang(*_: object, **__: object) -> None:
        embedding.set()
        await asyncio.Event().wait()

    role.embedder.embed = hang  # type: ignore[assignment, method-assign]
    job = await role.submit(("a.md", b"Bonjour."), ("b.md", b"Bonsoir."))
    await embedding.wait()

    await role.jobs.cancel_job("w", job.job_id)
    done = await role.finished(job)

    assert {file.state for file in done.files} == {DocumentJobState.CANCELLED}
    assert role.store.documents == {}


async def test_cancelling_kills_the_process_that_reads(
    tmp_path: Path, store: FakePassageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not go on with a file that nobody wants any more."""
    pid_file = tmp_path / "reader.pid"
    endless = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); "
    command = (sys.executable, "-c", endless + "time.sleep(600)")
    monkeypatch.setattr(
        running_jobs, "ExtractionProcesses", partial(ExtractionProcesses, command=command)
    )
    async with running_role(tmp_path, store) as role:
        job = await role.submit(("a.md", b"Bonjour."))
        async with asyncio.timeout(20):
            while not pid_file.exists() or not pid_file.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        pid = int(pid_file.read_text())
        os.kill(pid, 0)

        await role.jobs.cancel_job("w", job.job_id)
        done = await role.finished(job)

    assert done.state is DocumentJobState.CANCELLED
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_job_can_be_watched_from_a_revision_on(role: Role) -> None:
    """Every message is newer than the one before, and only changed files are in it."""
    job = await role.submit(("a.md", b"Bonjour."), ("film.mp4", b"x"))
    seen = [state async for state in role.jobs.watch_job("w", job.job_id)]
    late = [state async for state in role.jobs.watch_job("w", job.job_id, seen[-1].revision)]

    assert [state.revision for state in seen] == sorted({state.revision for state in seen})
    assert seen[-1].state is DocumentJobState.FAILED
    assert {file.external_id for state in seen for file in state.files} == {"a.md", "film.mp4"}
    assert [(state.revision, state.files) for state in late] == [(seen[-1].revision, ())]


@pytest.mark.parametrize("call", ["get_job", "cancel_job", "retry_job"])
async def test_a_job_that_is_not_there_is_not_found(role: Role, call: str) -> None:
    """An id that cannot be one is refused as such."""
    method: Callable[[str, str], object] = getattr(role.jobs, call)

    with pytest.raises(NotFound):
        await method("w", "0" * 32)  # type: ignore[misc]
    with pytest.raises(InvalidArgument) as caught:
        await method("w", "first")  # type: ignore[misc]
    assert caught.value.field == "job_id"


async def test_what_a_stopped_role_had_not_done_is_done_by_the_next(
    tmp_path: Path, store: FakePassageStore
) -> None:
    """The queue and the files outlive the process; what was done is not done again."""
    store.upsert_error = Unavailable("the retriever cannot be reached")
    async with running_role(tmp_path, store, job_attempts=50) as role:
        job = await role.submit(("a.md", b"Un."), ("b.md", b"Deux."))
    store.upsert_error = None

    async with running_role(tmp_path, store, job_retry_longest_s=0.05) as role:
        # The pauses of before may last a second.
        done = await role.finished(job)

    assert [file.state for file in done.files] == [DocumentJobState.INDEXED] * 2
    assert sorted(document.external_id for document in store.upserts) == ["a.md", "b.md"]


async def test_work_on_files_is_measured(role: Role) -> None:
    """By what became of them."""
    await role.finished(await role.submit(("a.md", b"Bonjour."), ("b.pdf", b"no PDF")))

    text = role.metrics.exposition().decode()
    assert 'justesse_job_tasks_total{kind="ingestion",outcome="indexed"} 1.0' in text
    assert 'justesse_job_tasks_total{kind="ingestion",outcome="failed"} 1.0' in text
    assert 'justesse_job_tasks_unfinished{kind="ingestion",state="queued"} 0.0' in text


async def test_what_waits_for_a_deleted_document_is_withdrawn(role: Role) -> None:
    """It does not come back, and nothing that was received for it stays on disk."""
    role.store.upsert_error = Unavailable("the retriever cannot be reached")
    failed = await role.finished(await role.submit(("a.md", b"Un."), ("b.md", b"Deux.")))
    role.hold_embedder()
    waiting = await role.submit(("a.md", b"Trois."), ("b.md", b"Quatre."))

    await role.ingestion.delete_originals("w", "a.md")

    async with asyncio.timeout(20):
        async for state in role.jobs.watch_job("w", waiting.job_id):
            job = await role.jobs.get_job("w", state.job_id)
            if job.files[0].state is DocumentJobState.CANCELLED:
                break
    assert job.files[1].state is not DocumentJobState.CANCELLED
    assert f"{failed.job_id}-0" not in role.received()
    assert f"{failed.job_id}-1" in role.received()
