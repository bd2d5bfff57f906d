"""Glossaries in JSON."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gateway.glossary.entry import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
)
from gateway.http.models.values import RequestBody


class GlossaryEntryBody(RequestBody):
    """A term as colleagues write it, and the words that documents use for it."""

    term: str = Field(description="1 to 100 characters")
    synonyms: list[str] = Field(description="1 to 20, each of 1 to 100 characters, best first")


class PutGlossaryBody(RequestBody):
    """Entries that are to be there."""

    entries: list[GlossaryEntryBody] = Field(description="at most 2,000")
    replace_all: bool = Field(
        default=False, description="delete every entry that is not among these"
    )

    def glossary_entries(self) -> tuple[GlossaryEntry, ...]:
        """Returns the entries."""
        return tuple(GlossaryEntry(each.term, tuple(each.synonyms)) for each in self.entries)


class GlossaryPageBody(BaseModel):
    """Entries by term; `entry_count` are on all pages."""

    entries: list[GlossaryEntryBody]
    next_page_token: str
    entry_count: int
    glossary_version: int


class GlossaryChangeBody(BaseModel):
    """What was changed; `entry_count` entries are there now."""

    created_count: int
    updated_count: int
    deleted_count: int
    entry_count: int
    glossary_version: int


class GlossaryDeletionBody(BaseModel):
    """What was deleted, and the terms that were not there."""

    deleted_count: int
    missing_terms: list[str]
    glossary_version: int


def to_glossary_page_body(page: GlossaryPage) -> GlossaryPageBody:
    """Writes one page of entries."""
    return GlossaryPageBody(
        entries=[
            GlossaryEntryBody(term=entry.term, synonyms=list(entry.synonyms))
            for entry in page.entries
        ],
        next_page_token=page.next_page_token,
        entry_count=page.entry_count,
        glossary_version=page.version,
    )


def to_glossary_change_body(change: GlossaryChange) -> GlossaryChangeBody:
    """Writes what a change did."""
    return GlossaryChangeBody(
        created_count=change.created_count,
        updated_count=change.updated_count,
        deleted_count=change.deleted_count,
        entry_count=change.entry_count,
        glossary_version=change.version,
    )


def to_glossary_deletion_body(deletion: GlossaryDeletion) -> GlossaryDeletionBody:
    """Writes what was deleted."""
    return GlossaryDeletionBody(
        deleted_count=deletion.deleted_count,
        missing_terms=list(deletion.missing_terms),
        glossary_version=deletion.version,
    )
