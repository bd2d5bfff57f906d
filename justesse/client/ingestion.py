"""Taking a file in: what may be said about it, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

from justesse.client.metadata import MetadataValue, metadata_messages, timestamp_from
from justesse.gateway.v1 import ingestion_pb2


class DocumentFacts(TypedDict, total=False):
    """What a caller may say about a file; what is left out is read from the file."""

    external_id: str
    """Id of the document in the workspace; left out: the name of the file."""
    title: str
    keywords: Sequence[str]
    source_uri: str
    category: str
    language: str
    """"fr" or "en"."""
    metadata: Mapping[str, MetadataValue]
    version: str
    superseded: bool
    keep_previous: bool
    """Keep what the file replaces as a document of its own, "<id>@<version>", superseded."""
    valid_from: datetime
    valid_until: datetime
    """First moment the content no longer holds."""


class IngestionOutcome(StrEnum):
    """What became of a file."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    """The document was there with equal content; nothing changed."""
    UNKNOWN = "unknown"
    """An outcome that is newer than this client."""


@dataclass(frozen=True, slots=True)
class IngestionResult:
    """A document that was taken in: committed and searchable."""

    outcome: IngestionOutcome
    external_id: str
    title: str
    passage_count: int
    awaiting_passage_count: int
    """Passages that wait to be embedded; they are found by their words meanwhile."""
    space_id: str
    """Space of the new vectors; empty where none were made."""
    warnings: tuple[str, ...]
    kept_vector_count: int
    """Passages that kept an earlier vector."""


def header_message(
    workspace: str, file_name: str, facts: DocumentFacts
) -> ingestion_pb2.IngestDocumentRequest:
    """Encodes the first message of an upload.

    Raises TypeError for an unknown fact and, as ValueError does, for metadata that cannot be kept.
    """
    known = DocumentFacts.__annotations__
    unknown = sorted(facts.keys() - known.keys())
    if unknown:
        raise TypeError(f"unknown facts: {', '.join(unknown)}; known: {', '.join(known)}")
    header = ingestion_pb2.IngestionHeader(
        workspace=workspace,
        file_name=file_name,
        external_id=facts.get("external_id", ""),
        title=facts.get("title", ""),
        keywords=facts.get("keywords", ()),
        source_uri=facts.get("source_uri", ""),
        category=facts.get("category", ""),
        language=facts.get("language", ""),
        metadata=metadata_messages(facts.get("metadata", {})),
        version=facts.get("version", ""),
        superseded=facts.get("superseded", False),
        keep_previous=facts.get("keep_previous", False),
    )
    if "valid_from" in facts:
        header.valid_from.CopyFrom(timestamp_from(facts["valid_from"], "valid_from"))
    if "valid_until" in facts:
        header.valid_until.CopyFrom(timestamp_from(facts["valid_until"], "valid_until"))
    return ingestion_pb2.IngestDocumentRequest(header=header)


_OUTCOMES = {
    ingestion_pb2.INGESTION_OUTCOME_CREATED: IngestionOutcome.CREATED,
    ingestion_pb2.INGESTION_OUTCOME_REPLACED: IngestionOutcome.REPLACED,
    ingestion_pb2.INGESTION_OUTCOME_UNCHANGED: IngestionOutcome.UNCHANGED,
}


def ingestion_result_from(message: ingestion_pb2.IngestDocumentResponse) -> IngestionResult:
    """Decodes what became of a file."""
    return IngestionResult(
        outcome=_OUTCOMES.get(message.outcome, IngestionOutcome.UNKNOWN),
        external_id=message.external_id,
        title=message.title,
        passage_count=message.passage_count,
        awaiting_passage_count=message.awaiting_passage_count,
        space_id=message.space_id,
        warnings=tuple(message.warnings),
        kept_vector_count=message.kept_vector_count,
    )
