"""Files on their way in, and reports on them, to and from messages of the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

from chassis.errors import InvalidArgument
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.wire.metadata import metadata_from, write_metadata_value
from gateway.wire.moments import moment_from, to_timestamp
from justesse.gateway.v1 import ingestion_pb2

_OUTCOMES = {
    IngestionOutcome.CREATED: ingestion_pb2.INGESTION_OUTCOME_CREATED,
    IngestionOutcome.REPLACED: ingestion_pb2.INGESTION_OUTCOME_REPLACED,
    IngestionOutcome.UNCHANGED: ingestion_pb2.INGESTION_OUTCOME_UNCHANGED,
}
_OUTCOMES_BY_NUMBER = {number: outcome for outcome, number in _OUTCOMES.items()}


async def incoming_file_from(
    messages: AsyncIterator[ingestion_pb2.IngestDocumentRequest],
) -> tuple[IncomingFile, AsyncIterator[bytes]]:
    """Reads the header, and returns it with the bytes that follow, read as they are asked for.

    InvalidArgument: first message without header; a later one without content.
    """
    first = await anext(messages, None)
    if first is None or first.WhichOneof("part") != "header":
        raise InvalidArgument("the first message must hold the header", field="header")
    return header_from(first.header), _content(messages)


async def _content(
    messages: AsyncIterator[ingestion_pb2.IngestDocumentRequest],
) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.WhichOneof("part") != "content":
            raise InvalidArgument(
                "every message after the header must hold content", field="content"
            )
        yield message.content


def header_from(message: ingestion_pb2.IngestionHeader) -> IncomingFile:
    """Reads the description of a file; errors name the field."""
    return IncomingFile(
        workspace=message.workspace,
        file_name=message.file_name,
        external_id=message.external_id,
        title=message.title,
        keywords=tuple(message.keywords),
        source_uri=message.source_uri,
        category=message.category,
        language=message.language,
        metadata=metadata_from(message.metadata, "metadata"),
        version=message.version,
        superseded=message.superseded,
        valid_from=(
            moment_from(message.valid_from, "valid_from")
            if message.HasField("valid_from")
            else None
        ),
        valid_until=(
            moment_from(message.valid_until, "valid_until")
            if message.HasField("valid_until")
            else None
        ),
        byte_count=message.byte_count if message.HasField("byte_count") else None,
        keep_previous=message.keep_previous,
    )


def to_header(file: IncomingFile) -> ingestion_pb2.IngestionHeader:
    """Writes the description of a file."""
    message = ingestion_pb2.IngestionHeader(
        workspace=file.workspace,
        file_name=file.file_name,
        external_id=file.external_id,
        title=file.title,
        keywords=file.keywords,
        source_uri=file.source_uri,
        category=file.category,
        language=file.language,
        version=file.version,
        superseded=file.superseded,
        valid_from=to_timestamp(file.valid_from),
        valid_until=to_timestamp(file.valid_until),
        byte_count=file.byte_count,
        keep_previous=file.keep_previous,
    )
    for name, value in file.metadata.items():
        write_metadata_value(message.metadata[name], value)
    return message


def to_ingestion_response(report: IngestionReport) -> ingestion_pb2.IngestDocumentResponse:
    """Writes what became of a file."""
    return ingestion_pb2.IngestDocumentResponse(
        outcome=_OUTCOMES[report.outcome],
        external_id=report.external_id,
        title=report.title,
        passage_count=report.passage_count,
        awaiting_passage_count=report.awaiting_passage_count,
        space_id=report.space_id,
        warnings=report.warnings,
        kept_vector_count=report.kept_vector_count,
    )


def ingestion_report_from(message: ingestion_pb2.IngestDocumentResponse) -> IngestionReport:
    """Reads what became of a file; an outcome this build does not know counts as replaced."""
    return IngestionReport(
        outcome=_OUTCOMES_BY_NUMBER.get(message.outcome, IngestionOutcome.REPLACED),
        external_id=message.external_id,
        title=message.title,
        passage_count=message.passage_count,
        awaiting_passage_count=message.awaiting_passage_count,
        space_id=message.space_id,
        warnings=tuple(message.warnings),
        kept_vector_count=message.kept_vector_count,
    )
