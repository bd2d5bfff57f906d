"""Documents to messages of the gateway."""

from __future__ import annotations

from gateway.documents import (
    DocumentDeletion,
    DocumentPage,
    SourceDeletion,
    StoredDocument,
    StoredPassage,
)
from gateway.wire.metadata import write_metadata_value
from gateway.wire.moments import to_timestamp
from justesse.gateway.v1 import documents_pb2


def to_get_response(stored: StoredDocument) -> documents_pb2.GetDocumentResponse:
    """Writes a document with its passages."""
    return documents_pb2.GetDocumentResponse(
        document=_to_document(stored), passages=map(_to_passage, stored.passages)
    )


def to_list_response(page: DocumentPage) -> documents_pb2.ListDocumentsResponse:
    """Writes one page of documents."""
    return documents_pb2.ListDocumentsResponse(
        documents=map(_to_document, page.documents),
        next_page_token=page.next_page_token,
        total_count=page.total_count,
    )


def to_delete_response(deletion: DocumentDeletion) -> documents_pb2.DeleteDocumentResponse:
    """Writes what was deleted."""
    return documents_pb2.DeleteDocumentResponse(
        deleted=deletion.deleted,
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        original_failure=deletion.original_failure,
        purge_within_s=deletion.purge_within_s,
    )


def to_delete_source_response(deletion: SourceDeletion) -> documents_pb2.DeleteSourceResponse:
    """Writes what was deleted with a source."""
    return documents_pb2.DeleteSourceResponse(
        documents=[
            documents_pb2.DeletedSourceDocument(
                external_id=external_id,
                passage_count=each.passage_count,
                original_failure=each.original_failure,
            )
            for external_id, each in deletion.deletions.items()
        ],
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        purge_within_s=deletion.purge_within_s,
    )


def _to_document(stored: StoredDocument) -> documents_pb2.Document:
    document = stored.document
    message = documents_pb2.Document(
        external_id=document.external_id,
        title=document.title,
        keywords=document.keywords,
        source_uri=document.source_uri,
        category=document.category,
        language=document.language,
        version=document.version,
        superseded=document.superseded,
        passage_count=stored.passage_count,
        update_time=to_timestamp(stored.update_time),
        valid_from=to_timestamp(document.valid_from),
        valid_until=to_timestamp(document.valid_until),
        chunking_profile=document.chunking_profile,
        awaiting_passage_count=stored.awaiting_passage_count,
    )
    for name, value in document.metadata.items():
        write_metadata_value(message.metadata[name], value)
    return message


def _to_passage(stored: StoredPassage) -> documents_pb2.DocumentPassage:
    return documents_pb2.DocumentPassage(
        passage_id=stored.passage_id,
        chunk_index=stored.passage.chunk_index,
        text=stored.passage.text,
        heading_path=stored.passage.heading_path,
        location=stored.passage.location,
        token_estimate=stored.passage.token_estimate,
        space_ids=stored.space_ids,
        sliced_space_ids=stored.sliced_space_ids,
        cuts_token=stored.passage.cuts_token,
    )
