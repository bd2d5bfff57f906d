"""Stand-ins for what the embedder embeds with: a provider by script, a model with a gate."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np

from chassis.deadline import Deadline
from embedder_svc.canary import CANARY_TEXT
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.price import FREE, Price
from embedder_svc.providers.deterministic import HashingModel
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.spaces import VectorSpace

DIMENSION = 8


class ScriptedProvider:
    """An EmbeddingProvider that answers with the same vector for every text, or fails as told.

    `failures` are raised one after the other, each by one call of `embed`; `check_failure` is
    raised by every `check` while it is set, and `checked` is released by each. `embedded` holds
    the batches it was asked for, without the canary, whose vector is `canary`.
    """

    breaker = None

    def __init__(self, name: str, *failures: Exception) -> None:
        self.name = name
        self.model = f"{name}-model"
        self.space = VectorSpace(name, self.model, "1", DIMENSION, "l2", "none")
        self.limits = ProviderLimits(512, 0.25, windows_recommended=False)
        self.failures = list(failures)
        self.check_failure: Exception | None = None
        self.embedded: list[tuple[str, ...]] = []
        self.check_count = 0
        self.checked = asyncio.Semaphore(0)
        self.closed = False
        self.price: Price | None = FREE
        self.canary: Vectors = np.eye(DIMENSION, dtype=np.float32)[:1]

    async def check(self) -> None:
        """Passes unless `check_failure` is set."""
        self.check_count += 1
        self.checked.release()
        if self.check_failure is not None:
            raise self.check_failure

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Raises the next failure, or returns one-hot vectors and one token a word."""
        if tuple(texts) == (CANARY_TEXT,):
            return EmbeddedBatch(self.canary, (EmbeddedText(9),))
        self.embedded.append(tuple(texts))
        if self.failures:
            raise self.failures.pop(0)
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        vectors[:, len(self.name) % DIMENSION] = 1.0
        return EmbeddedBatch(vectors, tuple(EmbeddedText(len(text.split())) for text in texts))

    async def close(self) -> None:
        """Remembers that it was closed."""
        self.closed = True


class GatedModel(HashingModel):
    """A HashingModel that stops before each encoding until its gate is opened.

    `entered` is set whenever an encoding has begun; `encoded` lists the groups that were encoded,
    in order.
    """

    def __init__(self, *, input_tokens: int = 512) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.encoded: list[list[str]] = []
        self._input_tokens = input_tokens

    @property
    def limits(self) -> ProviderLimits:
        """As narrow as asked for."""
        return ProviderLimits(self._input_tokens, 0.17, windows_recommended=False)

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Waits for the gate, then encodes."""
        self.encoded.append(list(texts))
        self.entered.set()
        assert self.gate.wait(60), "the test never opened the gate"
        return super().encode(texts, purpose)
