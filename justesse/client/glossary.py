"""Glossaries of workspaces: what colleagues say, and what the documents say instead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from justesse.gateway.v1 import glossary_pb2


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """A term as colleagues write it, and what the documents say instead."""

    term: str
    """1 to 100 characters."""
    synonyms: Sequence[str]
    """Words that documents use for it, best first; 1 to 20, each of 1 to 100 characters."""


@dataclass(frozen=True, slots=True)
class GlossaryPage:
    """Some entries by term."""

    entries: tuple[GlossaryEntry, ...]
    next_page_token: str
    """Empty on the last page."""
    entry_count: int
    """Entries on all pages."""
    version: int
    """Grows with each change; 0 before the first."""


@dataclass(frozen=True, slots=True)
class GlossaryChange:
    """What a change did."""

    created_count: int
    updated_count: int
    deleted_count: int
    entry_count: int
    """Entries that are there now."""
    version: int


@dataclass(frozen=True, slots=True)
class GlossaryDeletion:
    """What was deleted."""

    deleted_count: int
    missing_terms: tuple[str, ...]
    """Terms that were not there."""
    version: int


def entry_messages(entries: Iterable[GlossaryEntry]) -> list[glossary_pb2.GlossaryEntry]:
    """Encodes entries."""
    return [glossary_pb2.GlossaryEntry(term=each.term, synonyms=each.synonyms) for each in entries]


def glossary_page_from(message: glossary_pb2.ListGlossaryEntriesResponse) -> GlossaryPage:
    """Decodes one page of entries."""
    entries: Iterable[glossary_pb2.GlossaryEntry] = message.entries
    return GlossaryPage(
        entries=tuple(GlossaryEntry(entry.term, tuple(entry.synonyms)) for entry in entries),
        next_page_token=message.next_page_token,
        entry_count=message.entry_count,
        version=message.glossary_version,
    )


def glossary_change_from(message: glossary_pb2.PutGlossaryEntriesResponse) -> GlossaryChange:
    """Decodes what a change did."""
    return GlossaryChange(
        created_count=message.created_count,
        updated_count=message.updated_count,
        deleted_count=message.deleted_count,
        entry_count=message.entry_count,
        version=message.glossary_version,
    )


def glossary_deletion_from(
    message: glossary_pb2.DeleteGlossaryEntriesResponse,
) -> GlossaryDeletion:
    """Decodes what was deleted."""
    return GlossaryDeletion(
        deleted_count=message.deleted_count,
        missing_terms=tuple(message.missing_terms),
        version=message.glossary_version,
    )
