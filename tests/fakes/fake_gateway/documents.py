"""The parts of the fake gateway that keep documents."""

from collections.abc import AsyncIterator

from chassis.errors import InvalidArgument, NotFound
from chassis.interception import ServicerContext
from justesse.gateway.v1 import (
    documents_pb2,
    documents_pb2_grpc,
    ingestion_pb2,
    ingestion_pb2_grpc,
)
from tests.fakes.fake_gateway.state import SPACE, UPDATE_SECONDS, GatewayState, TakenFile, fail


def document_message(
    external_id: str, taken: TakenFile, awaiting_passage_count: int
) -> documents_pb2.Document:
    """Encodes a document as it was taken in."""
    message = documents_pb2.Document(
        external_id=external_id,
        title=taken.header.title or taken.header.file_name,
        keywords=taken.header.keywords,
        category=taken.header.category,
        language=taken.header.language or "fr",
        metadata=taken.header.metadata,
        passage_count=2,
        awaiting_passage_count=awaiting_passage_count,
        chunking_profile="structure",
    )
    message.update_time.seconds = UPDATE_SECONDS
    return message


class FakeDocuments(documents_pb2_grpc.DocumentServiceServicer):
    """Reads and deletes what was taken in."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def GetDocument(
        self, request: documents_pb2.GetDocumentRequest, context: ServicerContext
    ) -> documents_pb2.GetDocumentResponse:
        """Answers with two passages; the second cuts a word and was embedded in slices."""
        await self._state.enter("GetDocument", context)
        documents = await self._state.documents_of(request.workspace, context)
        if request.external_id not in documents:
            await fail(context, NotFound("there is no such document", reason="DOCUMENT_NOT_FOUND"))
        awaiting = self._state.awaiting_passage_count
        return documents_pb2.GetDocumentResponse(
            document=document_message(
                request.external_id, documents[request.external_id], awaiting
            ),
            passages=[
                documents_pb2.DocumentPassage(
                    passage_id=f"{request.external_id}#{index}",
                    chunk_index=index,
                    text=f"passage {index}",
                    heading_path=["Guide", "Retards"],
                    location="page 2",
                    token_estimate=3,
                    space_ids=[] if index < awaiting else [SPACE],
                    sliced_space_ids=[SPACE] if index == 1 else [],
                    cuts_token=index == 1,
                )
                for index in range(2)
            ],
        )

    async def ListDocuments(
        self, request: documents_pb2.ListDocumentsRequest, context: ServicerContext
    ) -> documents_pb2.ListDocumentsResponse:
        """Pages by position."""
        await self._state.enter("ListDocuments", context)
        documents = await self._state.documents_of(request.workspace, context)
        start, size = int(request.page_token or 0), request.page_size or 50
        ids = sorted(documents)
        return documents_pb2.ListDocumentsResponse(
            documents=[
                document_message(each, documents[each], self._state.awaiting_passage_count)
                for each in ids[start:][:size]
            ],
            next_page_token=str(start + size) if start + size < len(ids) else "",
            total_count=len(ids),
        )

    async def DeleteDocument(
        self, request: documents_pb2.DeleteDocumentRequest, context: ServicerContext
    ) -> documents_pb2.DeleteDocumentResponse:
        """Says whether there was one."""
        await self._state.enter("DeleteDocument", context)
        documents = await self._state.documents_of(request.workspace, context)
        existed = documents.pop(request.external_id, None) is not None
        return documents_pb2.DeleteDocumentResponse(
            deleted=existed,
            passage_count=2 if existed else 0,
            original_count=1 if existed else 0,
            original_failure=self._state.original_failure,
            purge_within_s=3_600,
        )

    async def DeleteSource(
        self, request: documents_pb2.DeleteSourceRequest, context: ServicerContext
    ) -> documents_pb2.DeleteSourceResponse:
        """Deletes what was said to come from there."""
        await self._state.enter("DeleteSource", context)
        documents = await self._state.documents_of(request.workspace, context)
        found = [
            i for i in sorted(documents) if documents[i].header.source_uri == request.source_uri
        ]
        for external_id in found:
            del documents[external_id]
        return documents_pb2.DeleteSourceResponse(
            documents=[
                documents_pb2.DeletedSourceDocument(external_id=each, passage_count=2)
                for each in found
            ],
            passage_count=2 * len(found),
            purge_within_s=3_600,
        )


class FakeIngestion(ingestion_pb2_grpc.IngestionServiceServicer):
    """Takes files in; one that holds "unreadable" is refused."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def IngestDocument(
        self,
        request_iterator: AsyncIterator[ingestion_pb2.IngestDocumentRequest],
        context: ServicerContext,
    ) -> ingestion_pb2.IngestDocumentResponse:
        """Keeps the file under its external id, or its name."""
        await self._state.enter("IngestDocument", context)
        header, parts = None, []
        async for message in request_iterator:
            if header is None:
                header = message.header
                documents = await self._state.documents_of(header.workspace, context)
            else:
                parts.append(message.content)
        assert header is not None
        content = b"".join(parts)
        if header.HasField("byte_count") and header.byte_count != len(content):
            text = f"{len(content)} bytes came, {header.byte_count} were said to come"
            await fail(context, InvalidArgument(text, field="content", reason="SIZE_MISMATCH"))
        if b"unreadable" in content:
            text = f"{header.file_name} cannot be read"
            await fail(context, InvalidArgument(text, field="content", reason="UNREADABLE_FILE"))
        external_id = header.external_id or header.file_name
        before = documents.get(external_id)
        documents[external_id] = TakenFile(header, [len(part) for part in parts], content)
        outcome = ingestion_pb2.INGESTION_OUTCOME_REPLACED
        if before is None:
            outcome = ingestion_pb2.INGESTION_OUTCOME_CREATED
        elif before.content == content:
            outcome = ingestion_pb2.INGESTION_OUTCOME_UNCHANGED
        return ingestion_pb2.IngestDocumentResponse(
            outcome=outcome,
            external_id=external_id,
            title=header.title or header.file_name,
            passage_count=2,
            space_id=SPACE,
            awaiting_passage_count=self._state.awaiting_passage_count,
            warnings=self._state.ingestion_warnings,
        )

    async def RechunkDocument(
        self, request: ingestion_pb2.RechunkDocumentRequest, context: ServicerContext
    ) -> ingestion_pb2.RechunkDocumentResponse:
        """Replaces what was taken in; what was not has no kept file."""
        await self._state.enter("RechunkDocument", context)
        documents = await self._state.documents_of(request.workspace, context)
        if request.external_id not in documents:
            await fail(context, NotFound("its file was not kept", reason="ORIGINAL_NOT_FOUND"))
        result = ingestion_pb2.IngestDocumentResponse(
            outcome=ingestion_pb2.INGESTION_OUTCOME_REPLACED,
            external_id=request.external_id,
            passage_count=3,
        )
        return ingestion_pb2.RechunkDocumentResponse(result=result)

    async def DeleteOriginals(
        self, request: ingestion_pb2.DeleteOriginalsRequest, context: ServicerContext
    ) -> ingestion_pb2.DeleteOriginalsResponse:
        """Finds one."""
        await self._state.enter("DeleteOriginals", context)
        return ingestion_pb2.DeleteOriginalsResponse(original_count=1)
