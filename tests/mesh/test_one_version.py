"""Uploads, changed uploads, equal uploads and deletions beside searches."""

from __future__ import annotations

import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from justesse.client import FileToIngest, IngestionOutcome, JobState, Justesse, NotFoundError
from tests.mesh.processes import Mesh

pytestmark = [pytest.mark.mesh]

WORKSPACE = "versions"
NAME = "tarifs.md"
PARTS = 4
_MARK = re.compile(r"version v(\d+)\b")


def text_of(version: int) -> str:
    """A document of several passages that all name its version."""
    sentence = f"Le tarif des surestaries du terminal vaut pour la version v{version}. "
    return "\n\n".join(f"## Partie {part}\n\n" + sentence * 40 for part in range(PARTS))


def versions_in(texts: list[str]) -> set[int]:
    """Returns the versions that texts name."""
    return {int(mark) for text in texts for mark in _MARK.findall(text)}


def test_an_answer_is_of_one_version_or_the_other(mesh: Mesh, soak: bool) -> None:
    """While one caller uploads, changes, repeats and deletes a document, every answer of a search
    and every reading of the document holds passages of one version only, one that was current at
    some moment of the call."""
    changes = 200 if soak else 12
    chance = random.Random(7)
    current = {"from": 0, "to": 0}
    done = threading.Event()

    def search() -> list[tuple[int, int, set[int]]]:
        seen = []
        with Justesse(mesh.gateway_address) as client:
            while not done.is_set():
                before = current["from"]
                hits = client.search(WORKSPACE, "tarif des surestaries", timeout=30).hits
                seen.append((before, current["to"], versions_in([hit.text for hit in hits])))
        return seen

    def read() -> list[tuple[int, int, set[int]]]:
        seen = []
        with Justesse(mesh.gateway_address) as client:
            while not done.is_set():
                before = current["from"]
                try:
                    passages = client.get_document(WORKSPACE, NAME).passages
                except NotFoundError:
                    passages = ()
                texts = [passage.text for passage in passages]
                seen.append((before, current["to"], versions_in(texts)))
        return seen

    with Justesse(mesh.gateway_address) as client, ThreadPoolExecutor(3) as pool:
        client.create_workspace(WORKSPACE)
        readers = [pool.submit(search), pool.submit(search), pool.submit(read)]
        try:
            for version in range(1, changes + 1):
                current["to"] = version
                outcome = take_in(client, version, as_job=chance.random() < 0.5)
                assert outcome in (IngestionOutcome.CREATED, IngestionOutcome.REPLACED)
                current["from"] = version
                if chance.random() < 0.3:
                    again = take_in(client, version, as_job=chance.random() < 0.5)
                    assert again is IngestionOutcome.UNCHANGED
                if chance.random() < 0.2:
                    assert client.delete_document(WORKSPACE, NAME).deleted
        finally:
            done.set()
        seen = [answer for reader in readers for answer in reader.result()]

    assert len(seen) > changes
    assert any(versions for _, _, versions in seen)
    for before, after, versions in seen:
        assert len(versions) <= 1
        assert all(before <= version <= after for version in versions)


def take_in(client: Justesse, version: int, *, as_job: bool) -> IngestionOutcome:
    """Uploads one version and waits until it is searchable, by either way."""
    content = text_of(version).encode()
    if not as_job:
        return client.ingest(WORKSPACE, content, file_name=NAME).outcome
    job = client.submit(WORKSPACE, [FileToIngest(content, NAME)])
    *_, last = client.watch_job(WORKSPACE, job.job_id)
    assert last.state is JobState.INDEXED
    (file,) = client.get_job(WORKSPACE, job.job_id).files
    assert file.result is not None
    return file.result.outcome
