"""Remembers for a short while what a model made of a request."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from cachetools import TTLCache

from chassis import clock as clocks
from chassis.clock import Clock
from rewriter_svc.faithfulness import Fault
from rewriter_svc.rewriting import RewriteRequest


@dataclass(frozen=True, slots=True)
class ModelRewrite:
    """What a model made of a request, or the fault for which it is not used.

    `query` and `standalone_question` are empty with a fault.
    """

    provider: str
    model: str
    query: str = ""
    standalone_question: str = ""
    fault: Fault | None = None


class RewriteCache:
    """Holds the newest entries for a time of the monotonic clock; keys hold no text."""

    def __init__(self, max_entries: int, ttl_s: float, clock: Clock = clocks.monotonic) -> None:
        self._entries: TTLCache[bytes, ModelRewrite] = TTLCache(max_entries, ttl_s, timer=clock)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes) -> ModelRewrite | None:
        """Returns what is known, None if nothing is, or not any more."""
        return self._entries.get(key)

    def put(self, key: bytes, rewrite: ModelRewrite) -> None:
        """Remembers a rewrite; with room for none, nothing."""
        if self._entries.maxsize >= 1:
            self._entries[key] = rewrite


def cache_key(request: RewriteRequest, *, prompt_version: str, models: str) -> bytes:
    """Returns a digest (BLAKE2b, 256 bits) of everything an answer depends on.

    Two requests have the same key only if they are equal but for white space around the query.
    """
    digest = hashlib.blake2b(digest_size=32)
    for part in _parts(request, prompt_version, models):
        encoded = part.encode("utf-8", "surrogatepass")
        # Its length first, so that no two lists of parts run into the same bytes.
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()


def _parts(request: RewriteRequest, prompt_version: str, models: str) -> Iterator[str]:
    yield from (prompt_version, models, request.workspace, request.language, request.query.strip())
    yield f"{request.glossary_version}/{len(request.glossary)}/{len(request.history)}"
    for entry in request.glossary:
        yield from (entry.term, str(len(entry.synonyms)), *entry.synonyms)
    for turn in request.history:
        yield from (turn.role.value, turn.text)
