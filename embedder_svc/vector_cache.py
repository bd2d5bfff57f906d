"""Keeps vectors of texts that were embedded before, by space, purpose and the text itself."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chassis import clock as clocks
from chassis.clock import Clock
from embedder_svc.embedding import EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.spaces import VectorSpace

_Key = tuple[str, EmbeddingPurpose, bytes]

# What an entry takes beside its vector, measured with CPython 3.11: about 600 bytes.
_ENTRY_BYTES = 600


@dataclass(frozen=True, slots=True, eq=False)
class CachedVector:
    """A vector (d, float32, norm 1) and what became of its text when it was embedded."""

    vector: Vectors
    text: EmbeddedText


class VectorCache:
    """Forgets the least recently used beyond `max_bytes`, and everything older than `ttl_s`.

    Holds hashes (BLAKE2b, 128 bits), no text. Used on one event loop, so without a lock.
    """

    def __init__(self, max_bytes: int, ttl_s: float, clock: Clock = clocks.monotonic) -> None:
        self._max_bytes = max_bytes
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries: OrderedDict[_Key, tuple[float, CachedVector]] = OrderedDict()
        self._places: set[tuple[str, EmbeddingPurpose]] = set()
        self._byte_count = 0

    @property
    def byte_count(self) -> int:
        """Bytes held now."""
        return self._byte_count

    def found(
        self, space: VectorSpace, purpose: EmbeddingPurpose, text: str
    ) -> CachedVector | None:
        """Returns what is known of a text, or None."""
        key = (space.id, purpose, _hashed(text))
        entry = self._entries.get(key)
        if entry is None:
            return None
        kept_at, cached = entry
        if self._clock() - kept_at > self._ttl_s:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return cached

    def keep(
        self,
        space: VectorSpace,
        purpose: EmbeddingPurpose,
        text: str,
        vector: Vectors,
        outcome: EmbeddedText,
    ) -> None:
        """Keeps the vector of a text; one that has failed has none."""
        if outcome.failure or not self._max_bytes:
            return
        key = (space.id, purpose, _hashed(text))
        if key in self._entries:
            self._drop(key)
        # A copy, since a row would keep its whole batch in memory.
        own = vector.copy()
        own.flags.writeable = False
        self._entries[key] = (self._clock(), CachedVector(own, replace(outcome, cached=True)))
        self._places.add((space.id, purpose))
        self._byte_count += own.nbytes + _ENTRY_BYTES
        while self._byte_count > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def forget(self, texts: Iterable[str]) -> int:
        """Drops the vectors of these texts in every space; returns how many there were."""
        keys = {(*place, _hashed(text)) for text in texts for place in self._places}
        known = keys & self._entries.keys()
        for key in known:
            self._drop(key)
        return len(known)

    def forget_space(self, space: VectorSpace) -> int:
        """Drops the vectors of a space; returns how many there were."""
        keys = [key for key in self._entries if key[0] == space.id]
        for key in keys:
            self._drop(key)
        return len(keys)

    def forget_all(self) -> int:
        """Drops everything; returns how many vectors there were."""
        count = len(self._entries)
        self._entries.clear()
        self._places.clear()
        self._byte_count = 0
        return count

    def _drop(self, key: _Key) -> None:
        _, cached = self._entries.pop(key)
        self._byte_count -= cached.vector.nbytes + _ENTRY_BYTES


def _hashed(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
