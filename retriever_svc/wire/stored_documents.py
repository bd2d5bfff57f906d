"""Reading, listing and deleting documents."""

from dataclasses import dataclass

from justesse.retriever.v1 import documents_pb2, search_pb2
from retriever_svc.documents import DocumentPage, DocumentRemoval, StoredDocument
from retriever_svc.wire.documents import document_message, external_id_from, passage_message
from retriever_svc.wire.field_checks import checked_count
from retriever_svc.wire.moments import timestamp_from
from retriever_svc.wire.page_tokens import after_from, token_from

_DEFAULT_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 500


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Asks for a page of documents; `after` is None for the first."""

    workspace: str
    page_size: int
    after: str | None


def page_request_from(
    message: documents_pb2.ListDocumentsRequest | search_pb2.FindDocumentsRequest,
) -> PageRequest:
    """Returns the request. Raises InvalidArgument."""
    size = checked_count(message.page_size, "page_size", low=0, high=_MAX_PAGE_SIZE)
    return PageRequest(
        message.workspace,
        size or _DEFAULT_PAGE_SIZE,
        after_from(message.page_token, "page_token"),
    )


def page_response(page: DocumentPage) -> documents_pb2.ListDocumentsResponse:
    """Returns the message of a page."""
    return documents_pb2.ListDocumentsResponse(
        documents=map(_listed_message, page.documents),
        next_page_token=token_from(page.next_after),
        total_count=page.total_count,
    )


def found_response(page: DocumentPage) -> search_pb2.FindDocumentsResponse:
    """Returns the message of a page of documents that were looked for."""
    return search_pb2.FindDocumentsResponse(
        documents=map(_listed_message, page.documents),
        next_page_token=token_from(page.next_after),
        total_count=page.total_count,
    )


def _listed_message(stored: StoredDocument) -> documents_pb2.ListedDocument:
    return documents_pb2.ListedDocument(
        document=document_message(stored.document),
        passage_count=stored.passage_count,
        update_time=timestamp_from(stored.updated_at),
        awaiting_passage_count=stored.awaiting_passage_count,
    )


def document_id_from(
    message: documents_pb2.GetDocumentRequest | documents_pb2.DeleteDocumentRequest,
) -> str:
    """Returns the external id asked for. Raises InvalidArgument."""
    return external_id_from(message.external_id, "external_id")


def document_response(stored: StoredDocument) -> documents_pb2.GetDocumentResponse:
    """Returns the message of a stored document."""
    return documents_pb2.GetDocumentResponse(
        document=document_message(stored.document),
        passage_count=stored.passage_count,
        passages=[
            documents_pb2.StoredPassage(
                passage_id=str(passage.passage_id),
                passage=passage_message(passage.passage),
                space_ids=passage.space_ids,
                sliced_space_ids=passage.sliced_space_ids,
            )
            for passage in stored.passages
        ],
        update_time=timestamp_from(stored.updated_at),
        awaiting_passage_count=stored.awaiting_passage_count,
    )


def removal_response(removal: DocumentRemoval) -> documents_pb2.DeleteDocumentResponse:
    """Returns the message of a removal."""
    return documents_pb2.DeleteDocumentResponse(
        deleted=removal.deleted,
        passage_count=removal.passage_count,
        seq=removal.seq,
        purge_within_s=removal.purge_within_s,
    )
