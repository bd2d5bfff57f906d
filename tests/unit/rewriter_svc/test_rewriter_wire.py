"""Messages of the rewriter contract: decoded whole, refused by name of the field."""

import pytest

from chassis.errors import InvalidArgument
from justesse.rewriter.v1 import rewriter_pb2 as pb
from rewriter_svc.limits import RequestLimits
from rewriter_svc.rewriting import (
    ConversationRole,
    ConversationTurn,
    GlossaryEntry,
    Rewrite,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
    StageReport,
)
from rewriter_svc.wire import rewrite_request_from, to_response

LIMITS = RequestLimits()


def turn(text: str = "Et au Havre ?") -> pb.ConversationTurn:
    return pb.ConversationTurn(role=pb.CONVERSATION_ROLE_USER, text=text)


def test_a_full_request_is_decoded_field_by_field() -> None:
    """Nothing of the request is lost or reordered on its way to the domain."""
    message = pb.RewriteQueryRequest(
        workspace="acme",
        query=" Et en mars ? ",
        language="fr",
        history=[
            turn("Combien de conteneurs ?"),
            pb.ConversationTurn(role=pb.CONVERSATION_ROLE_ASSISTANT, text="Douze."),
        ],
        glossary=[pb.GlossaryEntry(term="BL", synonyms=["bon de livraison", "delivery note"])],
        glossary_version=7,
    )

    assert rewrite_request_from(message, LIMITS) == RewriteRequest(
        workspace="acme",
        query=" Et en mars ? ",
        language="fr",
        history=(
            ConversationTurn(ConversationRole.USER, "Combien de conteneurs ?"),
            ConversationTurn(ConversationRole.ASSISTANT, "Douze."),
        ),
        glossary=(GlossaryEntry("BL", ("bon de livraison", "delivery note")),),
        glossary_version=7,
    )


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (pb.RewriteQueryRequest(), "query"),
        (pb.RewriteQueryRequest(query=" \n\t"), "query"),
        (pb.RewriteQueryRequest(query="é" * 4097), "query"),
        (pb.RewriteQueryRequest(query="prix", language="de"), "language"),
        (pb.RewriteQueryRequest(query="prix", history=[turn()] * 21), "history"),
        (pb.RewriteQueryRequest(query="prix", history=[turn("é" * 8193)] * 2), "history"),
        (
            pb.RewriteQueryRequest(query="prix", history=[turn(), pb.ConversationTurn(text="x")]),
            "history[1].role",
        ),
    ],
)
def test_a_request_beyond_a_bound_is_refused(message: pb.RewriteQueryRequest, field: str) -> None:
    """The refusal names the field, for people and for programs."""
    with pytest.raises(InvalidArgument) as refusal:
        rewrite_request_from(message, LIMITS)

    assert refusal.value.field == field
    assert refusal.value.violations[0].field == field


@pytest.mark.parametrize(
    "message",
    [
        pb.RewriteQueryRequest(query="é" * 4096),
        pb.RewriteQueryRequest(query="prix", history=[turn("é" * 819)] * 20),
        pb.RewriteQueryRequest(query="prix", history=[turn("é" * 8192)] * 2),
    ],
)
def test_a_request_at_its_bounds_is_taken(message: pb.RewriteQueryRequest) -> None:
    """Bounds belong to what is allowed."""
    assert rewrite_request_from(message, LIMITS).query == message.query


def test_an_unknown_role_of_a_newer_caller_is_refused() -> None:
    """A number outside the enum is no speaker."""
    message = pb.RewriteQueryRequest.FromString(
        # query = "prix"; history = [{role: 9, text: "x"}]
        b"\x12\x04prix\x22\x05\x08\x09\x12\x01x"
    )

    with pytest.raises(InvalidArgument, match="role of turn 0 is 9"):
        rewrite_request_from(message, LIMITS)


@pytest.mark.parametrize("origin", RewriteOrigin)
@pytest.mark.parametrize("outcome", StageOutcome)
def test_a_rewrite_is_encoded_field_by_field(origin: RewriteOrigin, outcome: StageOutcome) -> None:
    """Every origin and outcome has its value in the contract, under the same name."""
    report = StageReport(
        outcome,
        reason="QUOTA",
        detail="the quota is used up",
        provider="mistral",
        model="mistral-small",
        latency_ms=12.5,
        input_token_count=40,
        output_token_count=9,
        cost=0.25,
        currency="EUR",
    )

    message = to_response(Rewrite("prix gaz", "Quel est le prix ?", origin, report))

    assert (message.query, message.standalone_question) == ("prix gaz", "Quel est le prix ?")
    assert pb.RewriteOrigin.Name(message.origin) == f"REWRITE_ORIGIN_{origin.name}"
    assert pb.StageOutcome.Name(message.report.outcome) == f"STAGE_OUTCOME_{outcome.name}"
    assert message.report == pb.StageReport(
        outcome=message.report.outcome,
        reason="QUOTA",
        detail="the quota is used up",
        provider="mistral",
        model="mistral-small",
        latency_ms=12.5,
        input_token_count=40,
        output_token_count=9,
        cost=0.25,
        currency="EUR",
    )


def test_an_unknown_price_stays_unset() -> None:
    """Zero would mean that the call was free."""
    rewrite = Rewrite("q", "q", RewriteOrigin.ORIGINAL, StageReport(StageOutcome.SKIPPED))

    assert not to_response(rewrite).report.HasField("cost")
