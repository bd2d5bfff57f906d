"""Documents on the wire: round trips and refusals."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidArgument, ResourceExhausted
from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import WINDOWS_AWAITED, Document, Passage
from retriever_svc.wire.documents import (
    document_from,
    document_message,
    passage_from,
    passage_message,
)
from retriever_svc.wire.moments import moment_from, timestamp_from
from retriever_svc.wire.page_tokens import after_from, token_from
from retriever_svc.wire.uploads import UploadLimits, upsert_from

text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
values = st.one_of(text, st.floats(allow_nan=False, allow_infinity=False), st.booleans(), moments)
documents = st.builds(
    Document,
    external_id=text.filter(bool),
    title=text,
    keywords=st.lists(text, max_size=3).map(tuple),
    source_uri=text,
    category=text,
    language=st.sampled_from(["", "fr", "en"]),
    metadata=st.dictionaries(text, values, max_size=4),
    version=text,
    valid_from=st.none() | moments,
    valid_until=st.none() | moments,
    superseded=st.booleans(),
    content_hash=text,
    chunking_profile=text,
)
passages = st.builds(
    Passage,
    chunk_index=st.integers(0, 2**31 - 1),
    text=text.filter(str.strip),
    heading_path=st.lists(text, max_size=3).map(tuple),
    location=text,
    token_estimate=st.integers(0, 2**31 - 1),
    embedded_text_hash=text,
    cuts_token=st.booleans(),
)


@given(documents)
def test_documents_survive_the_wire(document: Document) -> None:
    """Every field, typed metadata included, comes back as it was."""
    message = documents_pb2.Document.FromString(document_message(document).SerializeToString())

    assert document_from(message, "document") == document


@given(passages)
def test_passages_survive_the_wire(passage: Passage) -> None:
    """Every field comes back as it was."""
    assert passage_from(passage_message(passage), "passage") == passage


@given(moments)
def test_moments_survive_the_wire(moment: datetime) -> None:
    """To the microsecond, before 1970 too."""
    assert moment_from(timestamp_from(moment), "at") == moment


@given(st.none() | text.filter(bool))
def test_page_tokens_survive_the_wire(after: str | None) -> None:
    """A token leads back to where the page ended."""
    assert after_from(token_from(after), "page_token") == after


@pytest.mark.parametrize("token", ["x", "====", "aGVsbG8=", "é", "YWZ0ZXI6/w=="])
def test_foreign_page_tokens_are_refused(token: str) -> None:
    """Only tokens of this service are taken."""
    with pytest.raises(InvalidArgument, match="page_token"):
        after_from(token, "page_token")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"external_id": ""}, "document.external_id"),
        ({"external_id": "a\nb"}, "document.external_id"),
        ({"external_id": "x" * 513}, "document.external_id"),
        ({"title": "x" * 1_001}, "document.title"),
        ({"language": "de"}, "document.language"),
        ({"valid_from": Timestamp(seconds=10**15)}, "document.valid_from"),
    ],
)
def test_documents_out_of_bounds_are_refused(changes: dict[str, object], field: str) -> None:
    """The field is named."""
    message = documents_pb2.Document(**({"external_id": "a"} | changes))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument) as caught:
        document_from(message, "document")

    assert caught.value.field == field


def test_metadata_must_be_small_typed_and_finite() -> None:
    """Over 16 kB, a value of no kind and a number that is none are refused."""
    large = {"note": documents_pb2.MetadataValue(string_value="x" * 16_400)}
    empty = {"note": documents_pb2.MetadataValue()}
    endless = {"note": documents_pb2.MetadataValue(number_value=float("inf"))}
    for metadata in (large, empty, endless):
        with pytest.raises(InvalidArgument, match="metadata"):
            document_from(documents_pb2.Document(external_id="a", metadata=metadata), "document")


async def streamed(
    messages: Sequence[documents_pb2.UpsertDocumentRequest],
) -> AsyncIterator[documents_pb2.UpsertDocumentRequest]:
    """Yields messages as a call would."""
    for message in messages:
        yield message


HEADER = documents_pb2.UpsertDocumentRequest(
    header=documents_pb2.DocumentHeader(
        workspace="docs", document=documents_pb2.Document(external_id="a")
    )
)


def batch(
    first: int, count: int, *vectors: documents_pb2.VectorBlock
) -> documents_pb2.UpsertDocumentRequest:
    """Returns a message with passages from chunk_index `first` on."""
    return documents_pb2.UpsertDocumentRequest(
        passages=documents_pb2.PassageBatch(
            passages=[
                documents_pb2.Passage(chunk_index=index, text="eau")
                for index in range(first, first + count)
            ],
            vectors=vectors,
        )
    )


def block(
    rows: Sequence[Sequence[float]], *, space_id: str = "s", **fields: object
) -> documents_pb2.VectorBlock:
    """Returns a block of these rows."""
    matrix = np.array(rows, "<f4")
    given = {
        "space_id": space_id,
        "dimension": matrix.shape[1],
        "vectors": matrix.tobytes(),
        **fields,
    }
    return documents_pb2.VectorBlock(**given)


async def test_batches_are_joined_to_one_document() -> None:
    """Positions and rows count over all batches; windows stay with their rows."""
    windows = np.array([[1, 0], [0, 1], [1, 1]], "<f4").tobytes()
    first = block([[1, 2], [3, 4]], window_counts=[2, 1], window_vectors=windows)
    second = block([[5, 6]], passage_positions=[1], sliced_rows=[0])
    upsert = await upsert_from(
        streamed([HEADER, batch(0, 2, first), batch(2, 2, second)]), UploadLimits()
    )
    vectors = upsert.vectors[0]

    assert [passage.chunk_index for passage in upsert.passages] == [0, 1, 2, 3]
    assert vectors.positions.tolist() == [0, 1, 3]
    assert vectors.sliced_rows == {2}
    assert vectors.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert vectors.window_counts is not None
    assert vectors.window_counts.tolist() == [2, 1, WINDOWS_AWAITED]
    assert vectors.window_vectors is not None
    assert vectors.window_vectors.tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "header"),
        ([batch(0, 1)], "header"),
        ([HEADER, HEADER], "passages"),
        ([HEADER, batch(1, 1)], "passages[batch 0].passages[0].chunk_index"),
        ([HEADER, batch(0, 1), batch(0, 1)], "passages[batch 1].passages[0].chunk_index"),
        ([HEADER, batch(0, 2, block([[1]]))], "passages[batch 0].vectors[0].vectors"),
        (
            [HEADER, batch(0, 1, block([[1]], sliced_rows=[1]))],
            "passages[batch 0].vectors[0].sliced_rows",
        ),
        (
            [HEADER, batch(0, 1, block([[1, 2]], vectors=b"123456789"))],
            "passages[batch 0].vectors[0].vectors",
        ),
        (
            [HEADER, batch(0, 1, block([[1, 2]], dimension=0))],
            "passages[batch 0].vectors[0].dimension",
        ),
        (
            [HEADER, batch(0, 1, block([[1]])), batch(1, 1, block([[1, 2]]))],
            "passages[batch 1].vectors[0].dimension",
        ),
        (
            [HEADER, batch(0, 1, block([[1]]), block([[1]]))],
            "passages[batch 0].vectors[1].space_id",
        ),
        (
            [HEADER, batch(0, 2, block([[1], [2]], passage_positions=[1, 0]))],
            "passages[batch 0].vectors[0].passage_positions",
        ),
        (
            [HEADER, batch(0, 1, block([[1]], passage_positions=[1]))],
            "passages[batch 0].vectors[0].passage_positions",
        ),
        (
            [HEADER, batch(0, 1, block([[1]], window_counts=[2], window_vectors=b"1234"))],
            "passages[batch 0].vectors[0].window_counts",
        ),
    ],
)
async def test_malformed_uploads_are_refused(
    messages: list[documents_pb2.UpsertDocumentRequest], field: str
) -> None:
    """The part of the stream that is wrong is named."""
    with pytest.raises(InvalidArgument) as caught:
        await upsert_from(streamed(messages), UploadLimits())

    assert caught.value.field == field


@pytest.mark.parametrize("limits", [UploadLimits(max_passages=3), UploadLimits(max_bytes=20)])
async def test_uploads_beyond_the_limits_are_refused(limits: UploadLimits) -> None:
    """Before they fill the memory."""
    with pytest.raises(ResourceExhausted, match="split it"):
        await upsert_from(streamed([HEADER, batch(0, 2), batch(2, 2)]), limits)
