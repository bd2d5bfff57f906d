"""Documents of the retriever over gRPC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import grpc

from gateway.clients.retriever_messages import (
    listed_document_from,
    stored_document_from,
    to_document,
)
from gateway.clients.service_errors import errors_of
from gateway.clients.upsert_stream import passage_batches
from gateway.documents import (
    Document,
    DocumentDeletion,
    DocumentPage,
    Parent,
    Passage,
    StoredDocument,
    UpsertOutcome,
    UpsertReport,
    VectorBlock,
)
from justesse.retriever.v1 import documents_pb2, documents_pb2_grpc

_OUTCOMES = {
    documents_pb2.UPSERT_OUTCOME_CREATED: UpsertOutcome.CREATED,
    documents_pb2.UPSERT_OUTCOME_REPLACED: UpsertOutcome.REPLACED,
    documents_pb2.UPSERT_OUTCOME_UNCHANGED: UpsertOutcome.UNCHANGED,
}


_PARENTS_A_CALL = 100


class RetrieverDocuments:
    """Implements the `DocumentStore` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._documents = documents_pb2_grpc.DocumentServiceStub(channel)

    async def upsert_document(
        self,
        workspace: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: Sequence[VectorBlock] = (),
        *,
        timeout: float | None = None,
    ) -> UpsertReport:
        """Stores one document in one step, streaming its passages in bounded batches."""
        header = documents_pb2.DocumentHeader(workspace=workspace, document=to_document(document))
        requests = [documents_pb2.UpsertDocumentRequest(header=header)]
        requests += [
            documents_pb2.UpsertDocumentRequest(passages=batch)
            for batch in passage_batches(passages, vectors)
        ]
        with errors_of("retriever"):
            response = await self._documents.UpsertDocument(iter(requests), timeout=timeout)
        return UpsertReport(
            outcome=_OUTCOMES[response.outcome],
            passage_count=response.passage_count,
            awaiting_passage_count=response.awaiting_passage_count,
            kept_vector_count=response.kept_vector_count,
            seq=response.seq,
        )

    async def get_document(
        self,
        workspace: str,
        external_id: str,
        include_passages: bool = False,
        *,
        timeout: float | None = None,
    ) -> StoredDocument:
        """Reads one document; NotFound where there is no such workspace or document."""
        request = documents_pb2.GetDocumentRequest(
            workspace=workspace, external_id=external_id, include_passages=include_passages
        )
        with errors_of("retriever"):
            response = await self._documents.GetDocument(request, timeout=timeout)
        return stored_document_from(response)

    async def read_parents(
        self, workspace: str, passage_ids: Sequence[str], *, timeout: float | None = None
    ) -> Mapping[str, Parent]:
        """Reads the blocks that passages are parts of, by the passage's id, 100 a call."""
        found: dict[str, Parent] = {}
        for start in range(0, len(passage_ids), _PARENTS_A_CALL):
            request = documents_pb2.ReadParentsRequest(
                workspace=workspace, passage_ids=passage_ids[start : start + _PARENTS_A_CALL]
            )
            with errors_of("retriever"):
                response = await self._documents.ReadParents(request, timeout=timeout)
            for parent in response.parents:
                found[parent.passage_id] = Parent(
                    parent.text, parent.first_chunk_index, parent.passage_count
                )
        return found

    async def list_documents(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Lists documents by external id; `page_size` 0 means 50, at most 500."""
        request = documents_pb2.ListDocumentsRequest(
            workspace=workspace, page_size=page_size, page_token=page_token
        )
        with errors_of("retriever"):
            response = await self._documents.ListDocuments(request, timeout=timeout)
        return DocumentPage(
            documents=tuple(listed_document_from(listed) for listed in response.documents),
            next_page_token=response.next_page_token,
            total_count=response.total_count,
        )

    async def delete_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> DocumentDeletion:
        """Deletes one document; a missing document is no error."""
        request = documents_pb2.DeleteDocumentRequest(workspace=workspace, external_id=external_id)
        with errors_of("retriever"):
            response = await self._documents.DeleteDocument(request, timeout=timeout)
        return DocumentDeletion(
            response.deleted,
            response.passage_count,
            response.seq,
            purge_within_s=response.purge_within_s,
        )
