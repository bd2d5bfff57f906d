"""The span of a task, which keeps the trace of its submission as a link.

Submission and work may lie hours apart, so that the work is a trace of its own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Link, Span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from chassis.tracing.calls import received_context
from chassis.tracing.spans import current_tracer, fail, span
from gateway.jobs.job import Record

_KEY = "traceparent"


def with_submission(payload: Record) -> dict[str, Any]:
    """Returns what is kept of a new task: with the context of the running span, if there is one."""
    kept = dict(payload)
    if current_tracer() is not None:
        TraceContextTextMapPropagator().inject(kept)
        kept.pop("tracestate", None)
    return kept


def task_span(kind: str, payload: Record) -> AbstractContextManager[Span | None]:
    """Returns what runs its block as the span of a task."""
    links = []
    if current_tracer() is not None and _KEY in payload:
        submission = trace.get_current_span(received_context([(_KEY, str(payload[_KEY]))]))
        if submission.get_span_context().is_valid:
            links.append(Link(submission.get_span_context()))
    return span(f"task {kind}", {"justesse.job.kind": kind}, links=links)


def end_task(running: Span | None, outcome: str) -> None:
    """Notes what came of a task."""
    if running is not None:
        running.set_attribute("justesse.task.outcome", outcome)
        if outcome == "failed":
            fail(running, outcome)
