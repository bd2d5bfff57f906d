"""Messages and domain objects say the same, in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidArgument
from gateway.clients.retriever_messages import (
    document_from,
    passage_from,
    to_document,
    to_passage,
)
from gateway.documents import Document, MetadataValue, Passage
from gateway.filters import Filter, Threshold
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.questions import Question
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.wire.filters import filter_from, threshold_from, write_filter, write_threshold
from gateway.wire.ingestion import (
    header_from,
    ingestion_report_from,
    to_header,
    to_ingestion_response,
)
from gateway.wire.metadata import metadata_value_from, write_metadata_value
from gateway.wire.search import question_from
from justesse.gateway.v1 import filters_pb2, ingestion_pb2
from justesse.gateway.v1 import search_pb2 as gateway_search_pb2
from justesse.retriever.v1 import documents_pb2, search_pb2
from tests.fakes.gateway_services import strategies as some

CONTRACTS = [filters_pb2, search_pb2]


@given(some.values, st.sampled_from([filters_pb2.MetadataValue, documents_pb2.MetadataValue]))
def test_typed_facts_keep_value_and_type(
    value: MetadataValue,
    message_class: type[filters_pb2.MetadataValue] | type[documents_pb2.MetadataValue],
) -> None:
    """True stays a truth value and 1.0 a number, in both contracts."""
    message = message_class()
    write_metadata_value(message, value)

    read = metadata_value_from(message_class.FromString(message.SerializeToString()), "f")

    assert read == value
    assert type(read) is type(value)


@given(some.filters, st.sampled_from([filters_pb2.Filter, search_pb2.Filter]))
def test_conditions_keep_their_meaning(
    condition: Filter, message_class: type[filters_pb2.Filter] | type[search_pb2.Filter]
) -> None:
    """Any nesting of conditions crosses both contracts unchanged."""
    message = message_class()
    write_filter(message, condition)

    assert filter_from(message_class.FromString(message.SerializeToString())) == condition


@given(some.thresholds, st.sampled_from([filters_pb2.Threshold, search_pb2.Threshold]))
def test_thresholds_keep_their_bound(
    threshold: Threshold, message_class: type[filters_pb2.Threshold] | type[search_pb2.Threshold]
) -> None:
    """A bound of 0 is a bound, and the other one stays absent."""
    message = message_class()
    write_threshold(message, threshold)

    read = threshold_from(message_class.FromString(message.SerializeToString()), "f")

    assert read == threshold


@given(some.documents)
def test_documents_keep_every_field(document: Document) -> None:
    """What is stored is what is read."""
    message = to_document(document)

    assert document_from(documents_pb2.Document.FromString(message.SerializeToString())) == document


@given(
    st.builds(
        Passage,
        chunk_index=st.integers(0, 2**31 - 1),
        text=some.texts,
        heading_path=st.lists(some.texts, max_size=3).map(tuple),
        location=some.texts,
        token_estimate=st.integers(0, 2**31 - 1),
        embedded_text_hash=some.texts,
        cuts_token=st.booleans(),
    )
)
def test_passages_keep_every_field(passage: Passage) -> None:
    """What is stored is what is read."""
    assert passage_from(to_passage(passage)) == passage


@given(
    st.builds(
        IncomingFile,
        workspace=some.texts,
        file_name=some.texts,
        external_id=some.texts,
        title=some.texts,
        keywords=st.lists(some.texts, max_size=3).map(tuple),
        source_uri=some.texts,
        category=some.texts,
        language=some.texts,
        metadata=some.facts,
        version=some.texts,
        superseded=st.booleans(),
        valid_from=st.none() | some.moments,
        valid_until=st.none() | some.moments,
        byte_count=st.none() | st.integers(0, 2**40),
    )
)
def test_descriptions_of_files_keep_every_field(file: IncomingFile) -> None:
    """The ingestion role reads what the caller wrote."""
    message = to_header(file)

    read = header_from(ingestion_pb2.IngestionHeader.FromString(message.SerializeToString()))

    assert read == file


@pytest.mark.parametrize("outcome", IngestionOutcome)
def test_reports_on_files_keep_every_field(outcome: IngestionOutcome) -> None:
    """The caller reads what the ingestion role wrote."""
    report = IngestionReport(outcome, "id", "Titre", 5, 2, "space", ("a", "b"), 3)

    assert ingestion_report_from(to_ingestion_response(report)) == report


@pytest.mark.parametrize("kind", [filters_pb2.MetadataValue, documents_pb2.MetadataValue])
def test_a_fact_without_value_is_refused(
    kind: type[filters_pb2.MetadataValue] | type[documents_pb2.MetadataValue],
) -> None:
    """The field is named."""
    with pytest.raises(InvalidArgument, match=r"context\.week") as refused:
        metadata_value_from(kind(), "context.week")

    assert refused.value.field == "context.week"


@pytest.mark.parametrize(("limit", "expected"), [(None, None), (0, 0), (5, 5), (-1, -1)])
def test_a_limit_that_is_not_set_is_left_open(limit: int | None, expected: int | None) -> None:
    """A limit of 0 is a limit, to be refused later."""
    request = gateway_search_pb2.SearchPassagesRequest(workspace="w", query="q", limit=limit)

    assert question_from(request) == Question("w", "q", limit=expected)


@given(st.none() | some.filters, st.lists(some.thresholds, max_size=2), some.facts)
def test_every_part_of_a_question_is_read(
    condition: Filter | None, thresholds: list[Threshold], context: dict[str, MetadataValue]
) -> None:
    """A question with history, filter, thresholds and context is read whole."""
    question = Question(
        "negoce",
        "retards",
        limit=3,
        history=(
            ConversationTurn(ConversationRole.USER, "a"),
            ConversationTurn(ConversationRole.ASSISTANT, "b"),
        ),
        filter=condition,
        thresholds=tuple(thresholds),
        context=context,
        passages_per_document=2,
    )
    request = gateway_search_pb2.SearchPassagesRequest(
        workspace="negoce",
        query="retards",
        limit=3,
        history=[
            gateway_search_pb2.ConversationTurn(
                role=gateway_search_pb2.CONVERSATION_ROLE_USER, text="a"
            ),
            gateway_search_pb2.ConversationTurn(
                role=gateway_search_pb2.CONVERSATION_ROLE_ASSISTANT, text="b"
            ),
        ],
        passages_per_document=2,
    )
    if condition is not None:
        write_filter(request.filter, condition)
    for threshold in thresholds:
        write_threshold(request.thresholds.add(), threshold)
    for name, value in context.items():
        write_metadata_value(request.context[name], value)

    assert question_from(request) == question
    assert replace(question, limit=4) != question
