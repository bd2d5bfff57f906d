"""Entries of a workspace's glossary, and what doors say of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """A term as colleagues write it, and the words that documents use for it, best first."""

    term: str
    synonyms: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tells the entry from the others of its glossary: its term, whatever the case."""
        return name_of(self.term)


@dataclass(frozen=True, slots=True)
class Glossary:
    """All entries of a workspace by name; `version` grows with each change, 0 before the first."""

    entries: tuple[GlossaryEntry, ...] = ()
    version: int = 0


GlossaryEdit: TypeAlias = Callable[[tuple[GlossaryEntry, ...]], tuple[GlossaryEntry, ...]]
"""Returns the entries that are to be there instead of those given; raises a `ServiceError`."""


@dataclass(frozen=True, slots=True)
class MatchingEntries:
    """Entries that stand in a question, and the version of the glossary they come from."""

    entries: tuple[GlossaryEntry, ...] = ()
    version: int = 0


NO_ENTRIES = MatchingEntries()


@dataclass(frozen=True, slots=True)
class GlossaryPage:
    """Some entries by name; `entry_count` are on all pages."""

    entries: tuple[GlossaryEntry, ...]
    next_page_token: str
    entry_count: int
    version: int


@dataclass(frozen=True, slots=True)
class GlossaryChange:
    """What a change did; `entry_count` entries are there now."""

    created_count: int
    updated_count: int
    deleted_count: int
    entry_count: int
    version: int


@dataclass(frozen=True, slots=True)
class GlossaryDeletion:
    """What was deleted, and the terms that were not there."""

    deleted_count: int
    missing_terms: tuple[str, ...]
    version: int


def name_of(term: str) -> str:
    """Returns the name of the entry that has a term."""
    return wording_of(wording_of(term).casefold())


def wording_of(text: str) -> str:
    """Returns a term or synonym in Unicode form NFC, with single spaces between its words."""
    return " ".join(unicodedata.normalize("NFC", text).split())
