"""Which wordings a question is searched with, at which weights, and what the receipt says of it."""

from __future__ import annotations

from gateway.rewriting import ConversationRole, ConversationTurn
from tests.fakes.gateway_services.bench import Bench
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.spaces import SPACE

HISTORY = (ConversationTurn(ConversationRole.USER, "Où sont les retards ?"),)


async def test_a_rewritten_wording_has_the_weights_of_its_rewriter() -> None:
    """The original's are 1; the receipt names those beside it."""
    bench = Bench(FakeRewriter("retard livraison", dense_weight=0.5, lexical_weight=2.0))

    await bench.ask("retards ?")

    variants = bench.retriever.searches[0].variants
    assert [(each.text, each.dense_weight, each.lexical_weight) for each in variants] == [
        ("retards ?", 1.0, 1.0),
        ("retard livraison", 0.5, 2.0),
    ]
    assert bench.reports["rewrite"].detail == (
        "weights beside the first wording: wording 1: vectors 0.5, BM25 2"
    )


async def test_a_wording_that_is_not_for_vectors_is_not_embedded() -> None:
    """Each embedding takes its time."""
    bench = Bench(FakeRewriter("retard livraison", dense_weight=0.0))

    await bench.ask("retards ?")

    assert bench.embedder.embedded() == [("retards ?", SPACE.space_id)]
    assert [len(each.vectors) for each in bench.retriever.searches[0].variants] == [1, 0]


async def test_candidates_of_a_follow_up_are_scored_against_the_standalone_question() -> None:
    """It is the first wording; the follow-up itself stays among them, and all are embedded."""
    bench = Bench(FakeRewriter("retards mars liste", standalone="Où sont les retards de mars ?"))

    retrieval = await bench.ask("Et en mars ?", history=HISTORY)

    texts = ("Où sont les retards de mars ?", "Et en mars ?", "retards mars liste")
    assert retrieval.wordings.texts == texts
    assert [len(each.vectors) for each in bench.retriever.searches[0].variants] == [1, 1, 1]
    assert bench.reranker.calls[0][0] == "Où sont les retards de mars ?"


async def test_a_wording_that_is_said_twice_is_searched_once() -> None:
    """Where the rewriter searches with the standalone question itself."""
    question = "Où sont les retards de mars ?"
    bench = Bench(FakeRewriter(question, standalone=question, dense_weight=0.0))

    retrieval = await bench.ask("Et en mars ?", history=HISTORY)

    assert retrieval.wordings.texts == (question, "Et en mars ?")
    variants = bench.retriever.searches[0].variants
    assert [each.dense_weight for each in variants] == [1.0, 1.0]


async def test_a_question_that_was_left_alone_needs_no_words() -> None:
    """The receipt says why, and nothing of weights."""
    bench = Bench()

    await bench.ask("retards ?")

    assert bench.reports["rewrite"].detail == "no model"
