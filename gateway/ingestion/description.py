"""What is known of a document: what its owner sends, else what the file says of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from chassis.errors import InvalidArgument
from gateway.documents import Document, MetadataValue
from gateway.incoming_files import IncomingFile
from gateway.ingestion.chunking.profiles import CHUNKER_VERSION
from gateway.ingestion.extraction.blocks import BlockKind, Extraction
from gateway.ingestion.extraction.registry import EXTRACTOR_VERSION
from gateway.ingestion.upload_records import file_record
from gateway.validation import check_incoming_file

MAX_METADATA_BYTES = 16 * 1024
MAX_TITLE_LENGTH = 1_000
LANGUAGES = ("fr", "en")
_MOST_FILE_KEYWORDS = 100
_LONGEST_FILE_TEXT = 200


def check_description(file: IncomingFile) -> None:
    """Raises InvalidArgument where a description cannot be stored, before anything is read."""
    check_incoming_file(file)
    if file.language and file.language not in LANGUAGES:
        raise InvalidArgument(
            f"language {file.language!r} is not known; use fr, en, or leave it empty",
            field="language",
        )
    if len(file.title) > MAX_TITLE_LENGTH:
        raise InvalidArgument(
            f"title has {len(file.title)} characters, at most {MAX_TITLE_LENGTH} are taken",
            field="title",
        )
    length = _metadata_bytes(file.metadata)
    if length > MAX_METADATA_BYTES:
        raise InvalidArgument(
            f"metadata holds {length} bytes, at most {MAX_METADATA_BYTES} are taken",
            field="metadata",
        )
    if file.valid_from and file.valid_until and file.valid_from >= file.valid_until:
        raise InvalidArgument("valid_until must be later than valid_from", field="valid_until")


def fingerprint(
    file: IncomingFile, external_id: str, sha256: str, profile: str, language: str
) -> str:
    """Returns the content hash of a document: of all that decides how it is stored.

    It begins with the SHA-256 of the file's bytes. `profile` and `language` are those of the
    workspace. Of the file's name only its ending counts, and the rest where it may become the
    title: whichever way a file is uploaded, with the same facts it is the same.
    """
    decisive = {
        **file_record(file),
        "workspace": "",
        "keep_previous": False,
        "external_id": external_id,
        "file_name": "" if file.title else _stem(file.file_name),
        "suffix": PurePosixPath(file.file_name).suffix.casefold(),
        "profile": profile,
        "workspace_language": language,
        "extractor": EXTRACTOR_VERSION,
        "chunker": CHUNKER_VERSION,
    }
    written = json.dumps(decisive, sort_keys=True)
    return f"{sha256}-{hashlib.sha256(written.encode()).hexdigest()[:32]}"


def described(
    file: IncomingFile, external_id: str, extraction: Extraction, language: str
) -> tuple[Document, tuple[str, ...]]:
    """Returns the document without its hash and profile, and warnings about what was cut off."""
    facts = extraction.facts
    title = file.title or facts.title or _first_heading(extraction) or _stem(file.file_name)
    metadata, warnings = _metadata(file.metadata, facts.metadata)
    document = Document(
        external_id=external_id,
        title=title[:MAX_TITLE_LENGTH],
        keywords=file.keywords or _bounded(facts.keywords),
        source_uri=file.source_uri,
        category=file.category or facts.category[:_LONGEST_FILE_TEXT],
        language=language,
        metadata=metadata,
        version=file.version or facts.version[:_LONGEST_FILE_TEXT],
        valid_from=file.valid_from or facts.valid_from,
        valid_until=file.valid_until or facts.valid_until,
        superseded=file.superseded or facts.superseded,
    )
    return document, warnings


def _first_heading(extraction: Extraction) -> str:
    """Returns the first heading of the highest level, if the text begins with one."""
    first = extraction.blocks[0] if extraction.blocks else None
    # A sheet's name opens its text too, but names no document.
    named = first is not None and first.kind is BlockKind.HEADING and first.location != first.text
    return first.text if first is not None and named else ""


def _stem(file_name: str) -> str:
    stem = PurePosixPath(file_name.replace("\\", "/")).stem
    return " ".join(stem.replace("_", " ").replace("-", " ").split()) or file_name


def _bounded(keywords: Sequence[str]) -> tuple[str, ...]:
    short = (keyword for keyword in keywords if len(keyword) <= _LONGEST_FILE_TEXT)
    return tuple(short)[:_MOST_FILE_KEYWORDS]


def _metadata(
    sent: Mapping[str, MetadataValue], found: Mapping[str, MetadataValue]
) -> tuple[Mapping[str, MetadataValue], tuple[str, ...]]:
    merged = {**found, **sent}
    if _metadata_bytes(merged) <= MAX_METADATA_BYTES:
        return merged, ()
    return sent, (f"metadata inside the file was left out: over {MAX_METADATA_BYTES} bytes in all",)


def _metadata_bytes(metadata: Mapping[str, MetadataValue]) -> int:
    return sum(
        len(name.encode()) + (len(value.encode()) if isinstance(value, str) else 8)
        for name, value in metadata.items()
    )
