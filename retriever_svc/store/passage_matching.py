"""Decides which stored passages live on when a document is replaced.

A passage keeps its id where its text is unchanged, and its vectors where the text that was
embedded (which may hold title and headings) is unchanged.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from retriever_svc.documents import Passage


@dataclass(frozen=True, slots=True)
class StoredText:
    """Holds what matching needs of a stored passage."""

    passage_id: int
    text: str
    embedded_text_hash: str


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """Says what a new passage takes over from the stored ones.

    `passage_id` is the id that lives on, None for a new one; `vector_source` is the stored passage
    whose vectors still fit, which may be another one, None if there is none.
    """

    passage_id: int | None
    vector_source: int | None


def match_passages(stored: Sequence[StoredText], new: Sequence[Passage]) -> list[PassageMatch]:
    """Returns one match for each new passage; no id lives on twice. Prefers equal order."""
    kept: list[int | None] = [None] * len(new)
    by_text_and_hash: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for old in stored:
        by_text_and_hash[old.text, old.embedded_text_hash].append(old.passage_id)
    for position, passage in enumerate(new):
        queue = by_text_and_hash[passage.text, passage.embedded_text_hash]
        if queue:
            kept[position] = queue.popleft()
    used = set(kept)
    by_text: dict[str, deque[int]] = defaultdict(deque)
    for old in stored:
        if old.passage_id not in used:
            by_text[old.text].append(old.passage_id)
    for position, passage in enumerate(new):
        if kept[position] is None and by_text[passage.text]:
            kept[position] = by_text[passage.text].popleft()
    return _with_sources(stored, new, kept)


def _with_sources(
    stored: Sequence[StoredText], new: Sequence[Passage], kept: Sequence[int | None]
) -> list[PassageMatch]:
    hashes = {old.passage_id: old.embedded_text_hash for old in stored}
    by_hash: dict[str, int] = {}
    for old in stored:
        if old.embedded_text_hash:
            by_hash.setdefault(old.embedded_text_hash, old.passage_id)
    matches = []
    for passage, passage_id in zip(new, kept, strict=True):
        wanted = passage.embedded_text_hash
        unchanged = passage_id is not None and wanted and hashes[passage_id] == wanted
        matches.append(PassageMatch(passage_id, passage_id if unchanged else by_hash.get(wanted)))
    return matches
