"""Jobs whose processes are killed: every file ends indexed once, or failed with a reason."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from justesse.client import (
    FileToIngest,
    Job,
    JobState,
    Justesse,
    UnavailableError,
)
from tests.mesh.processes import Mesh, running_mesh

pytestmark = [pytest.mark.mesh, pytest.mark.faults, pytest.mark.slow]

T = TypeVar("T")

WORKSPACE = "crash"
VICTIMS = ("ingestion", "retriever", "gateway", "embedder")
PATIENCE_S = 90.0


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Six processes; a file is tried again quickly."""
    folder = tmp_path_factory.mktemp("crash")
    with running_mesh(folder, JUSTESSE_INGESTION_JOB_RETRY_LONGEST_S="1") as mesh:
        with Justesse(mesh.gateway_address) as client:
            client.create_workspace(WORKSPACE)
        yield mesh


def text_of(number: int, round_number: int) -> str:
    """A small document; every third one is other in every round."""
    changing = round_number if number % 3 == 0 else 0
    return f"# Note {number}\n\nLe lot {number} est à quai, version {changing}.\n"


def submitted(mesh: Mesh, round_number: int, count: int) -> Job:
    """Hands a batch over, again and again until it is acknowledged."""
    files = [
        FileToIngest(text_of(number, round_number).encode(), f"note-{number}.md")
        for number in range(count)
    ]
    # One that nobody can read, in the middle.
    files.insert(count // 2, FileToIngest(b"no PDF", f"broken-{round_number}.pdf"))
    with Justesse(mesh.gateway_address) as client:
        return _patiently(lambda: client.submit(WORKSPACE, files, timeout=20))


def finished(mesh: Mesh, job: Job) -> Job:
    """Waits for the end of a job over any number of lost connections."""

    def look() -> Job:
        with Justesse(mesh.gateway_address) as client:
            found = client.get_job(WORKSPACE, job.job_id, timeout=10)
        if not found.finished:
            raise UnavailableError("not finished", status="UNAVAILABLE", request_id="")
        return found

    return _patiently(look)


def _patiently(step: Callable[[], T]) -> T:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return step()
        except UnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_killed_processes_lose_no_file_and_do_none_twice(mesh: Mesh, soak: bool) -> None:
    """Whatever is killed and when, an acknowledged job comes to its end by itself, and the store
    holds every document once, in the state of the last batch."""
    chance = random.Random(20261201)
    count = 40 if soak else 12
    for round_number in range(30 if soak else len(VICTIMS)):
        victim = VICTIMS[round_number % len(VICTIMS)]
        job = submitted(mesh, round_number, count)
        time.sleep(chance.uniform(0.0, 0.8))
        mesh.processes[victim].kill()
        time.sleep(chance.uniform(0.0, 0.3))
        mesh.restart(victim)

        done = finished(mesh, job)

        assert done.file_count == count + 1
        assert done.state_counts == {JobState.INDEXED: count, JobState.FAILED: 1}
        (failed,) = (file for file in done.files if file.state is JobState.FAILED)
        assert failed.failure is not None
        assert (failed.external_id, failed.failure.reason) == (
            f"broken-{round_number}.pdf",
            "TYPE_MISMATCH",
        )
        outcomes = {file.external_id: file.result.outcome for file in done.files if file.result}
        expected = [
            "created" if round_number == 0 else "replaced" if number % 3 == 0 else "unchanged"
            for number in range(count)
        ]
        # A document whose vectors were lost to a killed embedder is completed by the next batch.
        whole = victim != "embedder" and VICTIMS[(round_number - 1) % len(VICTIMS)] != "embedder"
        if whole or round_number == 0:
            assert [outcomes[f"note-{number}.md"] for number in range(count)] == expected
        check_store(mesh, round_number, count)
    # What failed is kept for a retry; everything else that was received is gone.
    assert len(list((mesh.folder / "ingestion" / "received").iterdir())) == round_number + 1
    assert list((mesh.folder / "ingestion" / "incoming").iterdir()) == []


def check_store(mesh: Mesh, round_number: int, count: int) -> None:
    """Every document is there once, whole, and found by its words."""
    with Justesse(mesh.gateway_address) as client:
        documents = _patiently(lambda: list(client.iterate_documents(WORKSPACE)))
        assert [document.external_id for document in documents] == sorted(
            f"note-{number}.md" for number in range(count)
        )
        for number in range(count):
            found = client.get_document(WORKSPACE, f"note-{number}.md")
            assert [passage.text for passage in found.passages] == [
                text_of(number, round_number).strip()
            ]
