"""Shares of time, softening, and the reports that stages leave."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from gateway.receipt import Cost, StageOutcome, StageReport
from gateway.stage_times import StageTimes
from gateway.stages import Stages
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.bench import Bench
from tests.fakes.gateway_services.models import FakeRewriter


@dataclass
class Reported:
    """A result with a report."""

    report: StageReport


def stages(clock: FakeClock, seconds: float = 10.0) -> Stages:
    """Returns a runner with this much time left."""
    return Stages(Deadline.after(seconds, clock), ("first", "second"))


async def test_a_call_is_given_its_share_of_what_is_left() -> None:
    """Shares are taken of the remainder at the time the stage begins."""
    clock = FakeClock()
    runner = stages(clock, 10.0)
    given: list[float] = []

    async def call(timeout: float) -> None:
        given.append(timeout)
        clock.now += 2.0

    await runner.optional("first", call, share=0.4)
    await runner.required("second", call, share=0.5)

    assert given == pytest.approx([4.0, 4.0])


async def test_an_optional_stage_without_time_is_not_called() -> None:
    """What cannot be done in time is not begun, and counts as lost."""
    clock = FakeClock()
    runner = stages(clock, 0.001)

    async def call(_timeout: float) -> str:
        raise AssertionError("called without time")

    assert await runner.optional("first", call, share=0.5) is None
    (report,) = runner.reports()
    assert report.outcome is StageOutcome.DEGRADED
    assert report.reason == "DEADLINE_EXCEEDED"


async def test_a_required_stage_that_is_late_fails_with_its_name() -> None:
    """The caller learns which stage took too long."""
    runner = Stages(Deadline.after(0.02), ("first",))

    with pytest.raises(DeadlineExceeded, match="first"):
        await runner.required("first", lambda _timeout: asyncio.Event().wait(), share=1.0)


async def test_a_cancelled_request_is_not_softened() -> None:
    """Cancellation passes an optional stage."""
    runner = Stages(Deadline.after(30.0), ("first",))
    task = asyncio.create_task(
        runner.optional("first", lambda _timeout: asyncio.Event().wait(), share=1.0)
    )
    await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_reports_carry_the_gateways_own_latency() -> None:
    """The time is what the gateway waited, the hop included."""
    clock = FakeClock()
    runner = stages(clock)

    async def call(_timeout: float) -> Reported:
        clock.now += 0.25
        return Reported(StageReport("named by the service", StageOutcome.RAN, latency_ms=3.0))

    await runner.optional("first", call, share=0.5)

    (report,) = runner.reports()
    assert report.stage == "first"
    assert report.latency_ms == pytest.approx(250.0)


async def test_several_calls_of_a_stage_become_one_report() -> None:
    """Tokens add up, times that overlap do not, and the weightiest outcome counts."""
    clock = FakeClock()
    runner = stages(clock)

    async def paid(_timeout: float) -> Reported:
        clock.now += 1.0
        return Reported(
            StageReport(
                "first",
                StageOutcome.RAN,
                provider="one",
                input_token_count=4,
                cost=0.5,
                currency="EUR",
            )
        )

    async def lost(_timeout: float) -> Reported:
        raise Unavailable("gone", reason="GONE")

    await runner.optional("first", paid, share=0.5)
    clock.now += 5.0  # nothing of this stage runs meanwhile
    await runner.optional("first", paid, share=0.5)
    await runner.optional("first", lost, share=0.5, subject="space x")

    (report,) = runner.reports()
    assert report.outcome is StageOutcome.DEGRADED
    assert (report.reason, report.detail) == ("GONE", "space x: gone")
    assert (report.provider, report.input_token_count) == ("one", 8)
    assert report.latency_ms == pytest.approx(2000.0)
    assert (report.cost, report.currency) == (1.0, "EUR")


async def test_costs_are_summed_by_currency() -> None:
    """Two currencies stay two sums, and the stage's own price is then unknown."""
    clock = FakeClock()
    runner = stages(clock)
    for currency, amount in (("USD", 0.5), ("EUR", 0.25), ("USD", 0.125)):
        report = StageReport("first", StageOutcome.RAN, cost=amount, currency=currency)

        async def call(_timeout: float, report: StageReport = report) -> Reported:
            return Reported(report)

        await runner.optional("first", call, share=0.5)

    assert runner.costs() == (Cost(0.25, "EUR"), Cost(0.625, "USD"))
    assert runner.reports()[0].cost is None


async def test_reports_come_in_the_given_order() -> None:
    """The order is that of the pipeline, not that of the noting."""
    runner = stages(FakeClock())

    runner.skipped("second", "NOTHING", "nothing to do")
    runner.switched_off("first", "a_switch")

    assert [report.stage for report in runner.reports()] == ["first", "second"]
    assert runner.reports()[0].detail == "a_switch is off"


async def test_the_pipeline_gives_each_stage_its_share() -> None:
    """With 10 s and calls of 1 s each: the shares written in the pipeline, of what is left."""
    clock = FakeClock()
    bench = Bench(FakeRewriter(rewritten="autre"), clock=clock, deadline_s=10.0)
    for service in (bench.rewriter, bench.retriever, bench.reranker):
        service.behaviour.clock = clock
        service.behaviour.takes_s = 1.0

    await bench.ask()

    described, searched = bench.retriever.behaviour.timeouts
    assert described == pytest.approx(0.9 * 10)
    assert bench.rewriter.behaviour.timeouts == pytest.approx([0.4 * 9])
    assert searched == pytest.approx(0.9 * 8)
    assert bench.reranker.behaviour.timeouts == pytest.approx([0.9 * 7])


async def test_a_stage_that_was_lately_too_slow_is_not_begun() -> None:
    """Its loss is told with a reason of its own; a caller with more time still waits for it."""
    clock, called = FakeClock(), 0
    times = StageTimes(clock)

    async def slow(_timeout: float) -> None:
        nonlocal called
        called += 1
        clock.now += 0.5

    for _ in range(20):
        await Stages(Deadline.after(10.0, clock), ("first",), times).optional(
            "first", slow, share=0.5
        )
    told: list[StageReport] = []
    for _ in range(3):
        hurried = Stages(Deadline.after(0.5, clock), ("first",), times)
        await hurried.optional("first", slow, share=0.5)
        told += hurried.reports()
    patient = Stages(Deadline.after(10.0, clock), ("first",), times)
    await patient.optional("first", slow, share=0.5)

    # One hurried call finds out whether the stage has become fast again.
    assert called == 20 + 1 + 1
    assert [each.reason for each in told] == ["STAGE_TOO_SLOW"] * 2
    assert all(each.outcome is StageOutcome.DEGRADED for each in told)
    assert "250 ms" in told[0].detail


async def test_what_asks_no_service_is_always_made() -> None:
    """A known query vector costs nothing, however slow the embedder is."""
    clock = FakeClock()
    times = StageTimes(clock)
    for _ in range(20):
        times.given_up("first", 5.0)

    async def known(_timeout: float) -> str:
        return "vector"

    for _ in range(3):
        runner = Stages(Deadline.after(0.5, clock), ("first",), times)
        assert await runner.optional("first", known, share=0.5, timed=False) == "vector"
    assert times.p95_s("first") == 10.0
