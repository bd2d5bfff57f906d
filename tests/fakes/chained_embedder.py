"""An embedder with a chain of providers, as its callers in the gateway see it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from chassis.errors import InvalidArgument, NotFound, Unavailable
from gateway.embedding import (
    EmbeddedText,
    EmbeddedTexts,
    EmbeddingPurpose,
    Provider,
    ProviderState,
)
from gateway.receipt import StageOutcome, StageReport

FIRST, SECOND = "first/model@1/4/l2/none", "second/model@1/6/l2/none"


@dataclass
class ChainedEmbedder:
    """Answers in the asked space, or in the first of the chain that is not lost.

    A space in `lasts` answers that many more calls and is lost then. Texts that hold a part
    of `refused` cannot be embedded by anybody. The first two values of a vector tell the length of
    its text.
    """

    spaces: tuple[str, ...] = (FIRST, SECOND)
    lost: set[str] = field(default_factory=set)
    lasts: dict[str, int] = field(default_factory=dict)
    tokens_per_character: float = 0.25
    sliced_over: int = 10_000
    refused: set[str] = field(default_factory=set)
    windows_recommended: bool = False
    calls: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)
    purposes: set[EmbeddingPurpose] = field(default_factory=set)
    most_at_once: int = 0
    _at_once: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._open.set()

    @contextmanager
    def holding(self) -> Iterator[asyncio.Event]:
        """Keeps calls from being answered; yields what tells that one has come."""
        self._open.clear()
        self._arrived.clear()
        try:
            yield self._arrived
        finally:
            self._open.set()

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        space_id: str | None = None,
        workspace: str = "",
        *,
        accept_failures: bool = False,
        canaries: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> EmbeddedTexts:
        """Implements the port."""
        self.calls.append((tuple(texts), space_id))
        self.purposes.add(purpose)
        self._arrived.set()
        await self._open.wait()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self._at_once -= 1
        space_id = self._answering(space_id)
        if not accept_failures and (first := next(filter(self._refuses, texts), "")):
            raise InvalidArgument(f"{first} cannot be embedded", field="texts")
        width = int(space_id.split("/")[2])
        vectors = np.zeros((len(texts), width), dtype=np.float32)
        vectors[:, 0] = [np.cos(len(text)) for text in texts]
        vectors[:, 1] = [np.sin(len(text)) for text in texts]
        vectors[[self._refuses(text) for text in texts]] = 0
        return EmbeddedTexts(
            space_id,
            vectors,
            tuple(map(self._outcome, texts)),
            StageReport("embed", StageOutcome.RAN),
        )

    async def describe_providers(self, *, timeout: float | None = None) -> tuple[Provider, ...]:
        """Implements the port."""
        if self.lost >= set(self.spaces):
            raise Unavailable("the embedder cannot be reached", reason="EMBEDDER_UNREACHABLE")
        return tuple(
            Provider(
                space_id.split("/")[0],
                "model",
                space_id,
                int(space_id.split("/")[2]),
                512,
                self.tokens_per_character,
                ProviderState.UNAVAILABLE if space_id in self.lost else ProviderState.AVAILABLE,
                windows_recommended=self.windows_recommended,
            )
            for space_id in self.spaces
        )

    def embedded(self) -> list[str]:
        """Returns all texts that were sent."""
        return [text for texts, _ in self.calls for text in texts]

    def _refuses(self, text: str) -> bool:
        return any(part in text for part in self.refused)

    def _outcome(self, text: str) -> EmbeddedText:
        failure = f"{text} cannot be embedded" if self._refuses(text) else ""
        return EmbeddedText(1, sliced=len(text) > self.sliced_over, failure=failure)

    def _answering(self, asked: str | None) -> str:
        if asked is not None and asked not in self.spaces:
            raise NotFound("no configured provider serves the space", reason="SPACE_NOT_SERVED")
        for space_id in (asked,) if asked is not None else self.spaces:
            if space_id in self.lasts:
                self.lasts[space_id] -= 1
                if self.lasts[space_id] < 0:
                    self.lost.add(space_id)
            if space_id not in self.lost:
                return space_id
        raise Unavailable("no provider answers", reason="NO_PROVIDER")
