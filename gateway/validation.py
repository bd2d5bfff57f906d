"""What a request must fulfil before any work is done for it, whichever door it came through."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chassis.errors import FieldViolation, InvalidArgument
from gateway.explanations import Expectation
from gateway.filter_validation import filter_violations, threshold_violations
from gateway.fusion import Fusion, fusion_violations
from gateway.incoming_files import IncomingFile
from gateway.presets.presets import presets
from gateway.questions import Question

MAX_QUERY_BYTES = 8 * 1024
MAX_LIMIT = 100
MAX_CANDIDATE_COUNT = 200
MAX_HISTORY_TURNS = 20
MAX_HISTORY_BYTES = 32 * 1024
MAX_EXTERNAL_ID_LENGTH = 512
MAX_PAGE_SIZE = 500
MAX_CHUNK_INDEX = 2**31 - 1

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_JOB_ID = re.compile(r"[0-9a-f]{32}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def check_question(question: Question) -> None:
    """Raises InvalidArgument with every field that is wrong."""
    _raise_any(
        *_slug_violations(question.workspace, "workspace"),
        *_query_violations(question.query),
        *_history_violations(question),
        *_range_violations(question.page_length, "limit", 1, MAX_LIMIT),
        *_range_violations(question.passages_per_document, "passages_per_document", 0, MAX_LIMIT),
        *_range_violations(question.candidate_count, "candidate_count", 0, MAX_CANDIDATE_COUNT),
        *fusion_violations(question.fusion, "fusion"),
        *(filter_violations(question.filter, "filter") if question.filter is not None else ()),
        *(
            violation
            for index, threshold in enumerate(question.thresholds)
            for violation in threshold_violations(threshold, f"thresholds[{index}]")
        ),
    )


def check_expectation(expected: Expectation) -> None:
    """Raises InvalidArgument unless this can name a document, or one of its passages."""
    _raise_any(
        *_external_id_violations(expected.external_id, "external_id"),
        *_range_violations(expected.chunk_index or 0, "chunk_index", 0, MAX_CHUNK_INDEX),
    )


def is_slug(text: str) -> bool:
    """Whether this can be the slug of a workspace."""
    return _SLUG.fullmatch(text) is not None


def check_slug(slug: str, field: str = "slug") -> None:
    """Raises InvalidArgument unless this can be the slug of a workspace."""
    _raise_any(*_slug_violations(slug, field))


def check_preset(preset: str) -> None:
    """Raises InvalidArgument for an unknown preset."""
    if preset and preset not in presets():
        raise InvalidArgument(
            f"settings.preset is {preset!r}; expected one of {', '.join(map(repr, presets()))}",
            field="settings.preset",
        )


def check_fusion(fusion: Fusion, field: str) -> None:
    """Raises InvalidArgument for a constant or weight out of range."""
    _raise_any(*fusion_violations(fusion, field))


def check_document_name(workspace: str, external_id: str) -> None:
    """Raises InvalidArgument unless these can name a document."""
    _raise_any(
        *_slug_violations(workspace, "workspace"),
        *_external_id_violations(external_id, "external_id"),
    )


def check_job_name(workspace: str, job_id: str) -> None:
    """Raises InvalidArgument unless these can name a job."""
    _raise_any(
        *_slug_violations(workspace, "workspace"),
        *(
            ()
            if _JOB_ID.fullmatch(job_id)
            else (FieldViolation("job_id", f"job_id {job_id[:80]!r} is no id of a job"),)
        ),
    )


def check_page(workspace: str, page_size: int) -> None:
    """Raises InvalidArgument unless this can be a page of a workspace's documents."""
    _raise_any(
        *_slug_violations(workspace, "workspace"),
        *_range_violations(page_size, "page_size", 0, MAX_PAGE_SIZE),
    )


def check_page_size(page_size: int) -> None:
    """Raises InvalidArgument unless a page may have so many entries."""
    _raise_any(*_range_violations(page_size, "page_size", 0, MAX_PAGE_SIZE))


def check_incoming_file(file: IncomingFile) -> None:
    """Raises InvalidArgument unless workspace and name can be those of a file to take in."""
    _raise_any(
        *_slug_violations(file.workspace, "workspace"),
        *_external_id_violations(file.file_name, "file_name"),
        *(_external_id_violations(file.external_id, "external_id") if file.external_id else ()),
    )


def _raise_any(*violations: FieldViolation) -> None:
    if violations:
        raise InvalidArgument(
            "; ".join(violation.description for violation in violations),
            field=violations[0].field,
            violations=violations,
        )


def _slug_violations(slug: str, field: str) -> Iterator[FieldViolation]:
    if not slug:
        yield FieldViolation(field, f"{field} is empty; name a workspace")
    elif not _SLUG.fullmatch(slug):
        shown = slug if len(slug) <= 80 else f"{slug[:80]}..."
        yield FieldViolation(
            field,
            f"{field} {shown!r} cannot name a workspace: use 1 to 63 lower-case letters, digits "
            "and hyphens, the first no hyphen",
        )


def _query_violations(query: str) -> Iterator[FieldViolation]:
    length = len(query.encode())
    if not query.strip():
        yield FieldViolation("query", "query is blank; ask something")
    elif length > MAX_QUERY_BYTES:
        yield FieldViolation(
            "query", f"query has {length} bytes of UTF-8, at most {MAX_QUERY_BYTES} are taken"
        )


def _history_violations(question: Question) -> Iterator[FieldViolation]:
    turns = len(question.history)
    length = sum(len(turn.text.encode()) for turn in question.history)
    if turns > MAX_HISTORY_TURNS:
        yield FieldViolation(
            "history", f"history has {turns} turns, at most {MAX_HISTORY_TURNS} are taken"
        )
    if length > MAX_HISTORY_BYTES:
        yield FieldViolation(
            "history", f"history has {length} bytes of UTF-8, at most {MAX_HISTORY_BYTES} are taken"
        )


def _external_id_violations(external_id: str, field: str) -> Iterator[FieldViolation]:
    if not external_id.strip():
        yield FieldViolation(field, f"{field} is blank")
    elif len(external_id) > MAX_EXTERNAL_ID_LENGTH:
        yield FieldViolation(
            field,
            f"{field} has {len(external_id)} characters, at most {MAX_EXTERNAL_ID_LENGTH} "
            "are taken",
        )
    elif _CONTROL.search(external_id):
        yield FieldViolation(field, f"{field} holds a control character")


def _range_violations(
    value: int, field: str, smallest: int, largest: int
) -> Iterator[FieldViolation]:
    if not smallest <= value <= largest:
        yield FieldViolation(field, f"{field} must be from {smallest} to {largest}, not {value}")
