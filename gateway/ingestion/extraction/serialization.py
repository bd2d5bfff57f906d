"""Extractions and refusals as JSON, for the pipe between processes.

JSON on purpose: bytes from a process that may have been taken over must not run code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from gateway.ingestion.extraction.blocks import (
    Block,
    BlockKind,
    Extraction,
    FileFacts,
    MetadataValue,
)
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason


def extraction_to_json(extraction: Extraction) -> bytes:
    """Writes an extraction."""
    return _dump({"extraction": asdict(extraction)})


def refusal_to_json(refusal: FileRefused) -> bytes:
    """Writes a refusal."""
    return _dump({"refusal": {"reason": refusal.reason.value, "message": refusal.message}})


def out_of_memory_to_json() -> bytes:
    """Says that the process may not use as much memory as the file needs."""
    return _dump({"out_of_memory": True})


def failure_to_json(description: str) -> bytes:
    """Writes a fault of the extractor, for the log of the parent."""
    return _dump({"failure": description})


class ExtractorFailed(Exception):  # noqa: N818 - named for what happened
    """The extractor met an error it does not know; the message is its traceback, for the log."""


class OutOfMemory(Exception):  # noqa: N818 - named for what happened
    """The process may not use as much memory as the file needs."""


def extraction_from_json(answer: bytes) -> Extraction:
    """Reads an answer; raises the FileRefused, OutOfMemory or ExtractorFailed it holds.

    Raises ValueError, KeyError or TypeError where the answer is no such JSON.
    """
    fields = json.loads(answer)
    if "refusal" in fields:
        refusal = fields["refusal"]
        raise FileRefused(RefusalReason(refusal["reason"]), str(refusal["message"]))
    if "out_of_memory" in fields:
        raise OutOfMemory
    if "failure" in fields:
        raise ExtractorFailed(str(fields["failure"]))
    extraction = fields["extraction"]
    return Extraction(
        blocks=tuple(_block(block) for block in extraction["blocks"]),
        facts=_facts(extraction["facts"]),
        warnings=tuple(map(str, extraction["warnings"])),
        image_pages=tuple(map(int, extraction["image_pages"])),
    )


def _dump(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, default=_moment_to_json, ensure_ascii=False).encode()


def _moment_to_json(value: object) -> dict[str, str]:
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def _block(fields: Mapping[str, Any]) -> Block:
    return Block(
        kind=BlockKind(fields["kind"]),
        parts=tuple(map(str, fields["parts"])),
        level=int(fields["level"]),
        location=str(fields["location"]),
        header=tuple(map(str, fields["header"])),
        language=str(fields["language"]),
    )


def _facts(fields: Mapping[str, Any]) -> FileFacts:
    return FileFacts(
        title=str(fields["title"]),
        keywords=tuple(map(str, fields["keywords"])),
        category=str(fields["category"]),
        language=str(fields["language"]),
        version=str(fields["version"]),
        superseded=bool(fields["superseded"]),
        valid_from=_moment(fields["valid_from"]),
        valid_until=_moment(fields["valid_until"]),
        metadata={str(name): _value(value) for name, value in fields["metadata"].items()},
    )


def _moment(value: Mapping[str, str] | None) -> datetime | None:
    return datetime.fromisoformat(value["moment"]) if value else None


def _value(value: str | float | bool | Mapping[str, str]) -> MetadataValue:
    if isinstance(value, Mapping):
        return datetime.fromisoformat(value["moment"])
    return value if isinstance(value, str | bool) else float(value)
