"""Glossaries to and from messages of the gateway."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.glossary.entry import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
)
from justesse.gateway.v1 import glossary_pb2


def entries_from(
    messages: Iterable[glossary_pb2.GlossaryEntry],
) -> tuple[GlossaryEntry, ...]:
    """Reads entries."""
    return tuple(GlossaryEntry(message.term, tuple(message.synonyms)) for message in messages)


def to_page(page: GlossaryPage) -> glossary_pb2.ListGlossaryEntriesResponse:
    """Writes one page of entries."""
    return glossary_pb2.ListGlossaryEntriesResponse(
        entries=[
            glossary_pb2.GlossaryEntry(term=entry.term, synonyms=entry.synonyms)
            for entry in page.entries
        ],
        next_page_token=page.next_page_token,
        entry_count=page.entry_count,
        glossary_version=page.version,
    )


def to_change(change: GlossaryChange) -> glossary_pb2.PutGlossaryEntriesResponse:
    """Writes what a change did."""
    return glossary_pb2.PutGlossaryEntriesResponse(
        created_count=change.created_count,
        updated_count=change.updated_count,
        deleted_count=change.deleted_count,
        entry_count=change.entry_count,
        glossary_version=change.version,
    )


def to_deletion(deletion: GlossaryDeletion) -> glossary_pb2.DeleteGlossaryEntriesResponse:
    """Writes what was deleted."""
    return glossary_pb2.DeleteGlossaryEntriesResponse(
        deleted_count=deletion.deleted_count,
        missing_terms=deletion.missing_terms,
        glossary_version=deletion.version,
    )
