"""Descriptions of files and reports on them as plain JSON data, which a job keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gateway.documents import MetadataValue
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.jobs.job import TaskFailure

Record = dict[str, Any]

_MOMENT = "moment"


def file_record(file: IncomingFile) -> Record:
    """Writes a description; moments in UTC, so that equal ones are equal texts."""
    return {
        "workspace": file.workspace,
        "file_name": file.file_name,
        "external_id": file.external_id,
        "title": file.title,
        "keywords": list(file.keywords),
        "source_uri": file.source_uri,
        "category": file.category,
        "language": file.language,
        "metadata": {name: _value_record(value) for name, value in file.metadata.items()},
        "version": file.version,
        "superseded": file.superseded,
        "keep_previous": file.keep_previous,
        "valid_from": _moment_text(file.valid_from),
        "valid_until": _moment_text(file.valid_until),
    }


def file_from(record: Mapping[str, Any]) -> IncomingFile:
    """Reads a description."""
    return IncomingFile(
        workspace=record["workspace"],
        file_name=record["file_name"],
        external_id=record["external_id"],
        title=record["title"],
        keywords=tuple(record["keywords"]),
        source_uri=record["source_uri"],
        category=record["category"],
        language=record["language"],
        metadata={name: _value_from(value) for name, value in record["metadata"].items()},
        version=record["version"],
        superseded=record["superseded"],
        # Not in what earlier builds wrote.
        keep_previous=record.get("keep_previous", False),
        valid_from=_moment_from(record["valid_from"]),
        valid_until=_moment_from(record["valid_until"]),
    )


def report_record(report: IngestionReport) -> Record:
    """Writes a report."""
    return {
        "outcome": report.outcome.value,
        "external_id": report.external_id,
        "title": report.title,
        "passage_count": report.passage_count,
        "awaiting_passage_count": report.awaiting_passage_count,
        "space_id": report.space_id,
        "warnings": list(report.warnings),
        "kept_vector_count": report.kept_vector_count,
    }


def report_from(record: Mapping[str, Any]) -> IngestionReport:
    """Reads a report."""
    return IngestionReport(
        outcome=IngestionOutcome(record["outcome"]),
        external_id=record["external_id"],
        title=record["title"],
        passage_count=record["passage_count"],
        awaiting_passage_count=record["awaiting_passage_count"],
        space_id=record["space_id"],
        warnings=tuple(record["warnings"]),
        kept_vector_count=record["kept_vector_count"],
    )


def _value_record(value: MetadataValue) -> object:
    if isinstance(value, datetime):
        return {_MOMENT: _moment_text(value)}
    # One door brings whole numbers as int, another as float: the same number is the same text.
    return value if isinstance(value, str | bool) else float(value)


def _value_from(value: Any) -> MetadataValue:
    if isinstance(value, dict):
        return datetime.fromisoformat(value[_MOMENT])
    found: MetadataValue = value
    return found


def _moment_text(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).isoformat()


def _moment_from(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def submitted_record(
    file: IncomingFile,
    index: int,
    *,
    sha256: str = "",
    only_over: str = "",
    refusal: TaskFailure | None = None,
) -> Record:
    """Writes what a job must know of a file: its place, that it was kept, or why it was refused."""
    return {
        "index": index,
        "file": file_record(file),
        "sha256": sha256,
        "only_over": only_over,
        "refusal": None if refusal is None else asdict(refusal),
    }


def refusal_from(record: Mapping[str, Any]) -> TaskFailure | None:
    """Reads why a submitted file was refused; None where it was kept."""
    refusal = record["refusal"]
    return None if refusal is None else TaskFailure(**refusal)
