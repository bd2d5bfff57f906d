"""Keeps vectors of texts that were embedded before, by space, purpose and the text itself."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chassis import clock as clocks
from chassis.clock import Clock
from embedder_svc.canary import same_model
from embedder_svc.disk_state import DiskState, KeptVector
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

    Holds hashes (BLAKE2b, 128 bits), no text. Used on one event loop, so without a lock. With a
    `disk`, vectors outlive the process; those of a space are taken up by `admit`.
    """

    def __init__(
        self,
        max_bytes: int,
        ttl_s: float,
        clock: Clock = clocks.monotonic,
        wall: Clock = clocks.wall,
        disk: DiskState | None = None,
    ) -> None:
        self._disk = disk
        self._wall = wall
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

    def admit(self, space: VectorSpace, canary: Vectors) -> int:
        """Takes up what the disk holds of a space, where the same model made it; returns how much.

        Vectors of another model are dropped: they would be mixed with new ones.
        """
        if self._disk is None:
            return 0
        kept_canary = self._disk.canary_of(space.id)
        if kept_canary is None or not same_model(kept_canary, canary):
            self._disk.begin_space(space.id, canary)
            return 0
        count = 0
        for kept in self._disk.vectors_of(space.id):
            age = max(0.0, self._wall() - kept.kept_at)
            key = (kept.space_id, kept.purpose, kept.hash)
            if key not in self._entries:
                self._put(key, self._clock() - age, kept.vector, kept.text)
                count += 1
        return count

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
        now = self._clock()
        known = replace(outcome, cached=True)
        # A copy, since a row would keep its whole batch in memory.
        own = vector.copy()
        own.flags.writeable = False
        if self._disk is not None:
            self._disk.keep(KeptVector(*key, self._wall(), own, known))
        self._put(key, now, own, known)

    def drop_expired(self) -> int:
        """Drops what is too old, on the disk also of spaces that nobody serves; returns how many.

        What nobody asks for again would otherwise stay until it is pushed out.
        """
        oldest = self._clock() - self._ttl_s
        keys = [key for key, (kept_at, _) in self._entries.items() if kept_at < oldest]
        for key in keys:
            self._drop(key)
        if self._disk is not None:
            self._disk.drop_vectors_before(self._wall() - self._ttl_s)
        return len(keys)

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
        keys = list(self._entries)
        for key in keys:
            self._drop(key)
        return len(keys)

    def _put(self, key: _Key, kept_at: float, vector: Vectors, text: EmbeddedText) -> None:
        space_id, purpose, _ = key
        self._entries[key] = (kept_at, CachedVector(vector, text))
        self._places.add((space_id, purpose))
        self._byte_count += vector.nbytes + _ENTRY_BYTES
        while self._byte_count > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: _Key) -> None:
        _, cached = self._entries.pop(key)
        self._byte_count -= cached.vector.nbytes + _ENTRY_BYTES
        if self._disk is not None:
            self._disk.drop(*key)


def _hashed(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
