"""Rewriting without a chat model: the query stays, and the report says why."""

import pytest

from chassis.metrics import Metrics
from rewriter_svc.query_rewriter import QueryRewriter
from rewriter_svc.rewriting import (
    ConversationRole,
    ConversationTurn,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
)
from rewriter_svc.rule_rewriter import RuleRewriter
from rewriter_svc.usage import RewriteUsage


class SteppingClock:
    """Advances by two milliseconds at each reading."""

    def __init__(self) -> None:
        self._now = 100.0

    def __call__(self) -> float:
        self._now += 0.002
        return self._now


def rewriter(metrics: Metrics | None = None) -> QueryRewriter:
    usage = RewriteUsage(metrics or Metrics())
    return QueryRewriter(RuleRewriter(), usage, shortest_query_characters=6, clock=SteppingClock())


@pytest.mark.parametrize("query", ["délais", "  Combien de conteneurs ?  "])
async def test_without_a_model_the_query_comes_back_unchanged(query: str) -> None:
    """From six characters on, the reason is that no model is configured."""
    history = (ConversationTurn(ConversationRole.USER, "Et les autres ?"),)

    rewrite = await rewriter().rewrite(RewriteRequest("acme", query, "fr", history))

    assert rewrite.query == query
    assert rewrite.standalone_question == query
    assert rewrite.origin is RewriteOrigin.ORIGINAL
    assert rewrite.report.outcome is StageOutcome.SKIPPED
    assert rewrite.report.reason == "NOT_CONFIGURED"
    assert "no chat model is configured" in rewrite.report.detail
    assert (rewrite.report.provider, rewrite.report.model) == ("", "")
    assert rewrite.report.cost is None


@pytest.mark.parametrize("query", ["délai", "  TVA   ", "é"])
async def test_short_queries_are_left_alone(query: str) -> None:
    """Under six characters between the blanks there is nothing to rewrite."""
    rewrite = await rewriter().rewrite(RewriteRequest("acme", query))

    assert rewrite.query == query
    assert rewrite.standalone_question == query
    assert rewrite.origin is RewriteOrigin.ORIGINAL
    assert rewrite.report.outcome is StageOutcome.SKIPPED
    assert rewrite.report.reason == "TOO_SHORT"
    assert "6 characters" in rewrite.report.detail


async def test_the_report_tells_the_milliseconds_of_the_stage() -> None:
    """Latency is what the clock counted between request and answer."""
    rewrite = await rewriter().rewrite(RewriteRequest("acme", "retards de livraison"))

    assert rewrite.report.latency_ms == pytest.approx(2.0)


async def test_reports_hold_no_query_text() -> None:
    """Reports go to logs and receipts, where the words of a user do not belong."""
    for query in ("secret", "sec"):
        report = (await rewriter().rewrite(RewriteRequest("acme", query))).report
        assert "sec" not in report.detail


async def test_what_becomes_of_queries_is_counted() -> None:
    """By origin, outcome and reason, without their words."""
    metrics = Metrics()
    measured = rewriter(metrics)
    for query in ("TVA", "retards", "retards de livraison"):
        await measured.rewrite(RewriteRequest("acme", query))

    def count(reason: str) -> float | None:
        labels = {"origin": "original", "outcome": "skipped", "reason": reason}
        return metrics.registry.get_sample_value("rewriter_queries_total", labels)

    assert (count("TOO_SHORT"), count("NOT_CONFIGURED")) == (1, 2)
