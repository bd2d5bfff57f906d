"""Rewriter, reranker and health over sockets."""

from __future__ import annotations

import math

import pytest
from grpc_health.v1 import health_pb2

from chassis.errors import Internal
from gateway.clients.health import HealthClient
from gateway.clients.reranker import RerankerClient
from gateway.clients.rewriter import RewriterClient
from gateway.receipt import StageOutcome
from gateway.reranking import Candidate, FormulaAlone, RankedPassage
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.searching import SpaceScore
from justesse.reranker.v1 import reranker_pb2
from justesse.rewriter.v1 import rewriter_pb2
from tests.fakes.gateway_services.downstream import downstream

REWRITE = "justesse.rewriter.v1.RewriterService.RewriteQuery"
RERANK = "justesse.reranker.v1.RerankerService.RerankPassages"
CHECK = "grpc.health.v1.Health.Check"


async def test_a_query_is_rewritten() -> None:
    """Request, wording, standalone question and report cross the wire."""
    response = rewriter_pb2.RewriteQueryResponse(
        query="retard port",
        standalone_question="Et en juin ?",
        dense_weight=0.0,
        unchanged_for_s=2.5,
        report=rewriter_pb2.StageReport(
            outcome=rewriter_pb2.STAGE_OUTCOME_DEGRADED, reason="QUOTA", detail="quota used up"
        ),
    )
    turn = ConversationTurn(ConversationRole.ASSISTANT, "Bonjour.")
    async with downstream({REWRITE: lambda _: response}) as service:
        rewrite = await RewriterClient(service.channel).rewrite(
            "et ?", workspace="negoce", language="fr", history=[turn]
        )

    assert service.seen == [
        rewriter_pb2.RewriteQueryRequest(
            workspace="negoce",
            query="et ?",
            language="fr",
            history=[
                rewriter_pb2.ConversationTurn(
                    role=rewriter_pb2.CONVERSATION_ROLE_ASSISTANT, text="Bonjour."
                )
            ],
        )
    ]
    assert (rewrite.query, rewrite.standalone_question) == ("retard port", "Et en juin ?")
    assert (rewrite.dense_weight, rewrite.lexical_weight) == (0.0, 1.0)
    assert rewrite.unchanged_for_s == 2.5
    assert rewrite.report.outcome is StageOutcome.DEGRADED
    assert (rewrite.report.reason, rewrite.report.cost) == ("QUOTA", None)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
async def test_a_rewriter_with_a_weight_that_is_none_is_an_error(weight: float) -> None:
    """Rather the original alone than an order that means nothing."""
    response = rewriter_pb2.RewriteQueryResponse(query="retard", lexical_weight=weight)
    async with downstream({REWRITE: lambda _: response}) as service:
        with pytest.raises(Internal):
            await RewriterClient(service.channel).rewrite("retards", workspace="negoce")


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
async def test_a_rewriter_that_rests_for_no_time_is_an_error(seconds: float) -> None:
    """It would be asked with each query, or never again."""
    response = rewriter_pb2.RewriteQueryResponse(query="retards", unchanged_for_s=seconds)
    async with downstream({REWRITE: lambda _: response}) as service:
        with pytest.raises(Internal):
            await RewriterClient(service.channel).rewrite("retards", workspace="negoce")


@pytest.mark.parametrize("query", ["", "  \n", "x" * 8193])
async def test_a_rewriter_without_a_usable_query_is_an_error(query: str) -> None:
    """What the retriever would refuse is not sent on to it."""
    response = rewriter_pb2.RewriteQueryResponse(query=query)
    async with downstream({REWRITE: lambda _: response}) as service:
        with pytest.raises(Internal) as broken:
            await RewriterClient(service.channel).rewrite("retards", workspace="negoce")

    assert broken.value.reason == "REWRITER_ANSWER_BROKEN"


CANDIDATES = [
    Candidate("p1", "Titre", "Texte", (SpaceScore("s", 0.5, None),), 2.5),
    Candidate("p2", "", "", (SpaceScore("s", None, 0.25),), None),
]


async def test_candidates_are_reranked() -> None:
    """Scores that are absent stay absent, in both directions."""
    response = reranker_pb2.RerankPassagesResponse(
        passages=[
            reranker_pb2.RankedPassage(passage_id="p2", score=0.5),
            reranker_pb2.RankedPassage(passage_id="p1"),
        ]
    )
    async with downstream({RERANK: lambda _: response}) as service:
        ranking = await RerankerClient(service.channel).rerank(
            "retards", CANDIDATES, workspace="negoce", model_candidate_count=7
        )

    (request,) = service.seen
    first, second = request.candidates
    assert (request.workspace, request.question) == ("negoce", "retards")
    assert request.model_candidate_count == 7
    assert (first.title, first.text, first.bm25_score) == ("Titre", "Texte", 2.5)
    assert first.space_scores[0].HasField("cosine")
    assert not first.space_scores[0].HasField("best_window_cosine")
    assert not second.HasField("bm25_score")
    assert ranking.passages == (RankedPassage("p2", 0.5), RankedPassage("p1", None))


@pytest.mark.parametrize(
    ("fields", "alone"),
    [
        ({}, None),
        (
            {"seconds": 10.0, "weight": 0.3},
            FormulaAlone(10.0, 0.3),
        ),
        ({"seconds": 0.0, "weight": 0.3}, None),
        ({"seconds": math.nan, "weight": 0.3}, None),
        ({"seconds": math.inf, "weight": 0.3}, None),
        ({"seconds": 10.0, "weight": 1.5}, None),
        ({"seconds": 10.0, "weight": math.nan}, None),
        ({"seconds": 10.0}, None),
    ],
)
async def test_a_reranker_says_for_how_long_the_formula_sorts_alone(
    fields: dict[str, float], alone: FormulaAlone | None
) -> None:
    """What makes no sense counts as nothing said: it is asked each time."""
    response = reranker_pb2.RerankPassagesResponse(
        passages=[
            reranker_pb2.RankedPassage(passage_id="p1"),
            reranker_pb2.RankedPassage(passage_id="p2"),
        ],
        formula_alone_for_s=fields.get("seconds"),
        formula_similarity_weight=fields.get("weight"),
    )
    async with downstream({RERANK: lambda _: response}) as service:
        client = RerankerClient(service.channel)
        ranking = await client.rerank("retards", CANDIDATES, workspace="negoce")

    assert ranking.formula_alone == alone


async def test_a_reranker_is_connected_while_it_is_there() -> None:
    """The state of the connection tells, without a call."""
    response = reranker_pb2.RerankPassagesResponse(
        passages=[
            reranker_pb2.RankedPassage(passage_id="p1"),
            reranker_pb2.RankedPassage(passage_id="p2"),
        ]
    )
    async with downstream({RERANK: lambda _: response}) as service:
        client = RerankerClient(service.channel)
        before = client.connected()
        await client.rerank("retards", CANDIDATES, workspace="negoce")
        during = client.connected()

    assert (before, during) == (False, True)


@pytest.mark.parametrize("answered", [[], ["p1"], ["p1", "p1"], ["p1", "p3"], ["p1", "p2", "p2"]])
async def test_a_reranker_that_loses_or_invents_is_an_error(answered: list[str]) -> None:
    """Only a permutation of the candidates is an order."""
    response = reranker_pb2.RerankPassagesResponse(
        passages=[reranker_pb2.RankedPassage(passage_id=one) for one in answered]
    )
    async with downstream({RERANK: lambda _: response}) as service:
        with pytest.raises(Internal) as broken:
            await RerankerClient(service.channel).rerank("x", CANDIDATES, workspace="negoce")

    assert broken.value.reason == "RERANKER_ANSWER_BROKEN"


@pytest.mark.parametrize(
    ("status", "serving"),
    [
        (health_pb2.HealthCheckResponse.SERVING, True),
        (health_pb2.HealthCheckResponse.NOT_SERVING, False),
        (health_pb2.HealthCheckResponse.UNKNOWN, False),
    ],
)
async def test_health_asks_for_readiness(status: int, serving: bool) -> None:
    """Only SERVING is serving."""
    response = health_pb2.HealthCheckResponse(status=status)  # type: ignore[arg-type, unused-ignore]
    async with downstream({CHECK: lambda _: response}) as service:
        assert await HealthClient("retriever", service.channel).serving() is serving

    assert service.seen[0].service == "readiness"
