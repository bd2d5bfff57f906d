"""A streamed document: its header, then its passages in order."""

from collections.abc import AsyncIterable
from dataclasses import dataclass

from chassis.errors import InvalidArgument, ResourceExhausted
from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import DocumentUpsert, Passage, UpsertOutcome, UpsertReceipt
from retriever_svc.wire.documents import document_from, passage_from
from retriever_svc.wire.vector_blocks import VectorAssembly

_OUTCOMES = {
    UpsertOutcome.CREATED: documents_pb2.UPSERT_OUTCOME_CREATED,
    UpsertOutcome.REPLACED: documents_pb2.UPSERT_OUTCOME_REPLACED,
    UpsertOutcome.UNCHANGED: documents_pb2.UPSERT_OUTCOME_UNCHANGED,
}


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Bounds what one document may bring into memory."""

    max_passages: int = 20_000
    max_bytes: int = 512 * 2**20


async def upsert_from(
    messages: AsyncIterable[documents_pb2.UpsertDocumentRequest], limits: UploadLimits
) -> DocumentUpsert:
    """Reads the stream to its end. Raises InvalidArgument, and ResourceExhausted beyond limits."""
    header: documents_pb2.DocumentHeader | None = None
    passages: list[Passage] = []
    vectors = VectorAssembly()
    size = batches = 0
    async for message in messages:
        size += message.ByteSize()
        _check_size(size, limits.max_bytes, "bytes")
        part = message.WhichOneof("part")
        if header is None:
            if part != "header" or not message.header.HasField("document"):
                raise InvalidArgument("the first message must hold the document", field="header")
            header = message.header
            continue
        if part != "passages":
            raise InvalidArgument(
                "every message after the first must hold passages", field="passages"
            )
        where = f"passages[batch {batches}]"
        first = len(passages)
        _add_passages(passages, message.passages, where)
        _check_size(len(passages), limits.max_passages, "passages")
        vectors.add(message.passages.vectors, first, len(passages) - first, where)
        batches += 1
    if header is None:
        raise InvalidArgument("the stream is empty; send the document first", field="header")
    document = document_from(header.document, "header.document")
    return DocumentUpsert(header.workspace, document, tuple(passages), vectors.joined())


def upsert_response(receipt: UpsertReceipt) -> documents_pb2.UpsertDocumentResponse:
    """Returns the message of a receipt."""
    return documents_pb2.UpsertDocumentResponse(
        outcome=_OUTCOMES[receipt.outcome],
        passage_count=receipt.passage_count,
        awaiting_passage_count=receipt.awaiting_passage_count,
        kept_vector_count=receipt.kept_vector_count,
        seq=receipt.seq,
    )


def _add_passages(passages: list[Passage], batch: documents_pb2.PassageBatch, where: str) -> None:
    for index, message in enumerate(batch.passages):
        place = f"{where}.passages[{index}]"
        if message.chunk_index != len(passages):
            raise InvalidArgument(
                f"{place}.chunk_index is {message.chunk_index}; expected {len(passages)}: "
                "passages come in order, from 0",
                field=f"{place}.chunk_index",
            )
        passages.append(passage_from(message, place))


def _check_size(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise ResourceExhausted(
            f"the document has over {limit} {what}; split it into several documents",
            reason="DOCUMENT_TOO_LARGE",
        )
