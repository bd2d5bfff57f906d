"""A program that writes, deletes and searches an engine from many sides at once.

It runs in a process of its own, because a fault in native code would end the tests with it. Every
hit must have been live at some moment of its search, and a document that nobody touched during a
search must be found by it. Ends with 0 and one line that counts what was done.
"""

import chassis.process_environment  # noqa: F401 - before any native library is loaded

import asyncio  # isort: skip
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, upsert

WIDTH = 16
DOCUMENTS = 120
PASSAGES = 12
WRITERS = 4
SEARCHERS = 4


@dataclass
class Life:
    """When a version of a document could be seen: from the start of its upsert to the
    acknowledgement of its end. `ended` is None while it lives."""

    version: int
    begun: float
    acknowledged: float | None = None
    ending: float | None = None
    ended: float | None = None


@dataclass
class Storm:
    """The engine, the lives of all documents, and what was done."""

    engine: EmbeddedEngine
    stop_at: float
    lives: dict[int, list[Life]] = field(default_factory=dict)
    writes: int = 0
    searches: int = 0

    async def write(self, random: Random, mine: range) -> None:
        """Replaces and deletes documents of its own until the time is over."""
        version = 0
        while time.monotonic() < self.stop_at:
            version += 1
            document = random.choice(mine)
            lives = self.lives.setdefault(document, [])
            before = lives[-1] if lives and lives[-1].ended is None else None
            began = time.monotonic()
            if before is not None:
                before.ending = began
            if random.random() < 0.3:
                await self.engine.delete_document("docs", f"doc-{document}")
            else:
                lives.append(Life(version, began))
                await self.engine.upsert_document(change(document, version))
                lives[-1].acknowledged = time.monotonic()
            if before is not None:
                before.ended = time.monotonic()
            self.writes += 1

    async def search(self, random: Random) -> None:
        """Looks for single documents by word and by vector until the time is over."""
        while time.monotonic() < self.stop_at:
            document = random.randrange(DOCUMENTS)
            before = time.monotonic()
            known = list(self.lives.get(document, []))
            vector = {SPACE: rows(document, known[-1].version if known else 1)[0]}
            mode = random.choice(list(SearchMode))
            result = await self.engine.search_passages(
                request(f"jeton{document}", vector, mode=mode, candidate_count=50)
            )
            self.check(document, found(result), mode, before, time.monotonic())
            self.searches += 1

    def check(
        self, document: int, texts: list[str], mode: SearchMode, before: float, after: float
    ) -> None:
        """Compares the hits with the lives of the documents."""
        for text in texts:
            owner, version = (int(part[5:]) for part in text.split()[:2])
            life = next(one for one in self.lives[owner] if one.version == version)
            assert life.begun <= after, f"{text} was found before it was sent"
            assert life.ended is None or life.ended >= before, f"{text} was found after its end"
        if mode is SearchMode.DENSE:
            return
        for life in self.lives.get(document, []):
            there = life.acknowledged is not None and life.acknowledged <= before
            if there and (life.ending is None or life.ending > after):
                own = [text for text in texts if text.startswith(f"jeton{document} ")]
                assert len(own) == PASSAGES, f"{document} v{life.version}: {len(own)} found"

    async def compare(self) -> None:
        """Compares everything with the documents that live in the end."""
        described = await self.engine.describe_workspace("docs")
        everything = await self.engine.search_passages(
            request("passage", {SPACE: rows(1, 1)[0]}, candidate_count=2_000)
        )
        assert {one.hit_count for one in everything.lists} == {described.passage_count}
        for document in range(DOCUMENTS):
            lives = self.lives.get(document, [])
            alive = lives[-1] if lives and lives[-1].ended is None else None
            result = await self.engine.search_passages(
                request(f"jeton{document}", mode=SearchMode.LEXICAL, candidate_count=50)
            )
            expected = texts(document, alive.version) if alive is not None else []
            assert sorted(found(result)) == sorted(expected), f"document {document}"
            if alive is not None:
                near = await self.engine.search_passages(
                    request("rien", {SPACE: rows(document, alive.version)[3]}, limit=1)
                )
                assert found(near) == [expected[3]]


def texts(document: int, version: int) -> list[str]:
    """Returns the passages of a version of a document."""
    return [f"jeton{document} versi{version} passage {place}" for place in range(PASSAGES)]


def rows(document: int, version: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Returns the vectors of a version, unlike those of any other."""
    generator = np.random.default_rng([document, version])
    return generator.standard_normal((PASSAGES, WIDTH)).astype(np.float32)


def change(document: int, version: int):  # type: ignore[no-untyped-def]
    """Returns the upsert of a version."""
    vectors = [passage_vectors(rows(document, version).tolist())]
    return upsert(f"doc-{document}", texts(document, version), vectors=vectors)


async def run(folder: Path, seed: int, seconds: float) -> None:
    """Lets the storm blow, waits until all is quiet, and compares."""
    dense = DenseSettings(flat_row_limit=400, growing_row_limit=60)
    engine = EmbeddedEngine(EmbeddedSettings(folder, dense=dense))
    try:
        await engine.create_workspace("docs", WorkspaceSettings())
        storm = Storm(engine, time.monotonic() + seconds)
        share = DOCUMENTS // WRITERS
        async with asyncio.TaskGroup() as group:
            for number in range(WRITERS):
                mine = range(number * share, (number + 1) * share)
                group.create_task(storm.write(Random(seed * 100 + number), mine))
            for number in range(SEARCHERS):
                group.create_task(storm.search(Random(seed * 100 + 50 + number)))
        await storm.compare()
        print(f"{storm.writes} writes, {storm.searches} searches")  # noqa: T201 - its result
    finally:
        engine.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
