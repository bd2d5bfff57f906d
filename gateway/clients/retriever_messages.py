"""Documents and passages to and from the retriever's messages."""

from __future__ import annotations

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from gateway.documents import Document, ParentRange, Passage, StoredDocument, StoredPassage
from gateway.wire.metadata import metadata_from, write_metadata_value
from gateway.wire.moments import moment_from, to_timestamp
from justesse.retriever.v1 import documents_pb2


def to_document(document: Document) -> documents_pb2.Document:
    """Writes a document."""
    message = documents_pb2.Document(
        external_id=document.external_id,
        title=document.title,
        keywords=document.keywords,
        source_uri=document.source_uri,
        category=document.category,
        language=document.language,
        version=document.version,
        valid_from=to_timestamp(document.valid_from),
        valid_until=to_timestamp(document.valid_until),
        superseded=document.superseded,
        content_hash=document.content_hash,
        chunking_profile=document.chunking_profile,
    )
    for name, value in document.metadata.items():
        write_metadata_value(message.metadata[name], value)
    return message


def document_from(message: documents_pb2.Document) -> Document:
    """Reads a document."""
    return Document(
        external_id=message.external_id,
        title=message.title,
        keywords=tuple(message.keywords),
        source_uri=message.source_uri,
        category=message.category,
        language=message.language,
        metadata=metadata_from(message.metadata, "document.metadata"),
        version=message.version,
        valid_from=(
            moment_from(message.valid_from, "document.valid_from")
            if message.HasField("valid_from")
            else None
        ),
        valid_until=(
            moment_from(message.valid_until, "document.valid_until")
            if message.HasField("valid_until")
            else None
        ),
        superseded=message.superseded,
        content_hash=message.content_hash,
        chunking_profile=message.chunking_profile,
    )


def to_passage(passage: Passage) -> documents_pb2.Passage:
    """Writes a passage."""
    return documents_pb2.Passage(
        chunk_index=passage.chunk_index,
        text=passage.text,
        heading_path=passage.heading_path,
        location=passage.location,
        token_estimate=passage.token_estimate,
        embedded_text_hash=passage.embedded_text_hash,
        parent=None if passage.parent is None else _to_parent_range(passage.parent),
        cuts_token=passage.cuts_token,
    )


def _to_parent_range(parent: ParentRange) -> documents_pb2.ParentRange:
    return documents_pb2.ParentRange(
        first_chunk_index=parent.first_chunk_index,
        passage_count=parent.passage_count,
        gap=parent.gap,
    )


def passage_from(message: documents_pb2.Passage) -> Passage:
    """Reads a passage."""
    return Passage(
        chunk_index=message.chunk_index,
        text=message.text,
        heading_path=tuple(message.heading_path),
        location=message.location,
        token_estimate=message.token_estimate,
        embedded_text_hash=message.embedded_text_hash,
        cuts_token=message.cuts_token,
    )


def stored_document_from(message: documents_pb2.GetDocumentResponse) -> StoredDocument:
    """Reads a document with the passages that came with it."""
    return StoredDocument(
        document=document_from(message.document),
        passage_count=message.passage_count,
        update_time=(
            update_time_from(message.update_time) if message.HasField("update_time") else None
        ),
        passages=tuple(
            StoredPassage(
                stored.passage_id,
                passage_from(stored.passage),
                tuple(stored.space_ids),
                tuple(stored.sliced_space_ids),
            )
            for stored in message.passages
        ),
        awaiting_passage_count=message.awaiting_passage_count,
    )


def listed_document_from(message: documents_pb2.ListedDocument) -> StoredDocument:
    """Reads one line of a list of documents."""
    return StoredDocument(
        document=document_from(message.document),
        passage_count=message.passage_count,
        update_time=(
            update_time_from(message.update_time) if message.HasField("update_time") else None
        ),
        awaiting_passage_count=message.awaiting_passage_count,
    )


def update_time_from(timestamp: Timestamp) -> datetime:
    """Reads when a document was stored."""
    return moment_from(timestamp, "update_time")
