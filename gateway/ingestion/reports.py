"""What the caller is told about a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from chassis.errors import InvalidArgument
from gateway.documents import Document, UpsertReport
from gateway.incoming_files import IngestionOutcome, IngestionReport
from gateway.ingestion.extraction.refusals import FileRefused
from gateway.ingestion.passage_vectors import NewVectors

_MOST_NAMED = 5


def report_of(
    document: Document, upsert: UpsertReport, new: NewVectors, warnings: Sequence[str]
) -> IngestionReport:
    """Returns the report on a stored document; what lacks or was sliced is among its warnings."""
    remarks = list(warnings)
    if new.failure:
        waiting = new.waiting_count - len(new.refused)
        remarks.append(
            f"passages that wait for vectors, found by their words meanwhile: {waiting} "
            f"({new.failure}); they get some as soon as a provider answers"
        )
    if new.refused:
        remarks.append(
            f"passages that the model cannot embed, found by their words: {len(new.refused)} "
            f"({_refusals_told(new.refused)})"
        )
    if new.windowless_count:
        remarks.append(
            f"passages without all their windows, ranked by their whole text meanwhile: "
            f"{new.windowless_count} ({new.window_failure})"
        )
    if new.sliced:
        remarks.append(
            f"passages longer than the model's input, embedded in slices: {places(new.sliced)}"
        )
    return IngestionReport(
        outcome=IngestionOutcome(upsert.outcome.value),
        external_id=document.external_id,
        title=document.title,
        passage_count=upsert.passage_count,
        awaiting_passage_count=upsert.awaiting_passage_count,
        space_id=new.space_id,
        warnings=tuple(remarks),
        kept_vector_count=upsert.kept_vector_count,
    )


@contextmanager
def refusals_named(file_name: str) -> Iterator[None]:
    """Turns a FileRefused into an InvalidArgument that names the file."""
    try:
        yield
    except FileRefused as refusal:
        raise InvalidArgument(
            f"{file_name}: {refusal.message}", field="file_name", reason=refusal.reason
        ) from refusal


def places(chunk_indexes: Sequence[int]) -> str:
    """Counts passages, and names the first of them by their places in the document, from 0."""
    named = ", ".join(map(str, chunk_indexes[:_MOST_NAMED]))
    more = ", ..." if len(chunk_indexes) > _MOST_NAMED else ""
    return f"{len(chunk_indexes)} (passages {named}{more})"


def _refusals_told(refused: Mapping[int, str]) -> str:
    told = [f"passage {index}: {reason}" for index, reason in islice(refused.items(), _MOST_NAMED)]
    more = len(refused) - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)
