"""Searches, uploads, outages, movers and switches at once, on spaces that are rotations.

A rotation keeps every cosine, so the right cosine of a query and a passage is known whatever space
it was computed in, while a vector of one space compared with one of the other gives noise. Each hit
of each search is compared with what is right.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from chassis.errors import FailedPrecondition, ServiceError
from gateway.pipeline import Retrieval
from gateway.reembedding import ReembeddingOutcome, ReembeddingRequest
from tests.fakes.embedder import fake_vectors
from tests.fakes.spaces_bench import FIRST, SECOND, TITLE, SpacesBench

WORDS = ("quai", "navire", "grue", "douane", "escale", "phare", "bouée", "cale", "pont", "fret")
DOCUMENTS = 5
TOLERANCE = 1e-3


@dataclass
class SpaceStorm:
    """What blows over a bench, and what was seen."""

    bench: SpacesBench
    random: Random
    mixed: list[str] = field(default_factory=list)
    compared: int = 0
    searched_spaces: set[str] = field(default_factory=set)
    switches: int = 0
    is_over: bool = False

    async def blow(self, *, switches: int, comparisons: int) -> None:
        """Lets everything happen until the workspace was switched, and cosines compared, so often.

        Both are awaited, as how many searches fit between two switches depends on the machine.
        """
        for number in range(DOCUMENTS):
            await self._upload(number)
        background = [
            asyncio.create_task(work())
            for work in (self._search, self._upload_on, self._lose, self._move)
        ]
        try:
            while self.switches < switches or self.compared < comparisons:
                await self._switch()
                self._raise_failed(background)
        finally:
            # Each comes to its end: a cancelled upload might be stored after the last move.
            self.is_over = True
            await asyncio.gather(*background, return_exceptions=True)
        self._raise_failed(background)
        self.bench.embedder.recover()

    async def compare_all(self) -> None:
        """Compares every passage in every space, once all is quiet and moved."""
        await self.bench.mover().move_all()
        for text in {one for number in range(DOCUMENTS) for one in await self._texts(number)}:
            self._compare(text, await self.bench.search(text, limit=100))

    def _compare(self, query: str, found: Retrieval) -> None:
        for hit in found.hits:
            right = cosine(query, hit.fused.passage.text)
            for score in hit.fused.space_scores:
                if score.cosine is None:
                    continue
                self.compared += 1
                self.searched_spaces.add(score.space_id)
                if abs(score.cosine - right) > TOLERANCE:
                    self.mixed.append(
                        f"{query!r} and {hit.fused.passage.text!r} in {score.space_id}: "
                        f"{score.cosine:.3f} instead of {right:.3f}"
                    )

    async def _texts(self, number: int) -> list[str]:
        stored = await self.bench.retriever.get_document("w", f"d{number}", include_passages=True)
        return [one.passage.text for one in stored.passages]

    def _text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=4))

    async def _upload(self, number: int) -> None:
        await self.bench.take_in(f"d{number}", self._text(), self._text())

    async def _upload_on(self) -> None:
        while not self.is_over:
            await self._upload(self.random.randrange(DOCUMENTS))
            await asyncio.sleep(0.04)

    async def _search(self) -> None:
        while not self.is_over:
            query = self._text()
            self._compare(query, await self.bench.search(query))
            await asyncio.sleep(0.005)

    async def _lose(self) -> None:
        while not self.is_over:
            lost = self.random.choice((FIRST, SECOND, None))
            self.bench.embedder.break_down(lost)
            await asyncio.sleep(0.02)
            self.bench.embedder.recover()
            await asyncio.sleep(0.06)

    async def _move(self) -> None:
        while not self.is_over:
            await self.bench.mover(batch_size=4).move_all()
            await asyncio.sleep(0.02)

    async def _switch(self) -> None:
        """Switches to the other space; drops the old one now and then."""
        old = (await self.bench.workspace()).preferred_space_id
        target = SECOND if old == FIRST else FIRST
        events = self.bench.reembedding(batch_size=32, pause=_moment).reembed(
            ReembeddingRequest("w", target)
        )
        with suppress(ServiceError):
            async for event in events:
                if isinstance(event, ReembeddingOutcome):
                    self.switches += event.switched
        if self.random.random() < 0.3:
            # One that searches still need is refused.
            with suppress(FailedPrecondition):
                await self.bench.retriever.drop_space("w", old)
        await asyncio.sleep(0)

    @staticmethod
    def _raise_failed(tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()


def cosine(query: str, text: str) -> float:
    """Returns the cosine of a query and a passage, the same in every space."""
    one, other = fake_vectors(FIRST, query, f"{TITLE}\n{text}")
    return float(one @ other)


async def _moment(_seconds: float) -> None:
    await asyncio.sleep(0.01)
