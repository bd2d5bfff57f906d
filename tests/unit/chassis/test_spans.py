"""Spans within one process: what is below what, and how models are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from chassis.errors import NotFound
from chassis.tracing.export import SpanExport, spans_exported
from chassis.tracing.model_calls import ModelOperation, model_span, note_usage
from chassis.tracing.spans import bare_context, read_within, span
from tests.fakes.span_collector import attributes_of, span_collector


async def test_what_a_stream_does_is_below_its_span_and_what_its_reader_does_is_not() -> None:
    """Though both take turns in one task."""

    async def pieces() -> AsyncGenerator[int, None]:
        for number in range(2):
            with span("made"):
                pass
            yield number

    with span_collector() as collector:
        with (
            spans_exported(SpanExport("one", collector.url)),
            span("reader"),
            span("stream", current=False) as stream,
        ):
            async for _ in read_within(stream, pieces()):
                with span("used"):
                    pass
        made, used = collector.named("made"), collector.named("used")
        outer, inner = collector.only("reader"), collector.only("stream")
    assert [one.parent_span_id for one in made] == [inner.span_id] * 2
    assert [one.parent_span_id for one in used] == [outer.span_id] * 2


async def test_a_task_for_several_callers_keeps_the_span_of_the_first() -> None:
    """And nothing else of its context."""

    async def work() -> None:
        with span("work"):
            pass

    with span_collector() as collector:
        with spans_exported(SpanExport("one", collector.url)), span("first"):
            await asyncio.get_running_loop().create_task(work(), context=bare_context())
        assert collector.only("work").parent_span_id == collector.only("first").span_id
    assert not list(bare_context())


@pytest.mark.parametrize("operation", ["chat", "embeddings", "rerank"])
def test_a_call_of_a_model_is_told_by_the_conventions(operation: ModelOperation) -> None:
    """Operation, provider, model and tokens; an error by its reason, never by its words."""
    with span_collector() as collector:
        with spans_exported(SpanExport("one", collector.url)):
            with model_span(operation, "mistral", "small") as call:
                note_usage(call, 12, None)
            with (
                pytest.raises(NotFound),
                model_span(operation, "mistral", "gone"),
            ):
                raise NotFound("words of a user", reason="MODEL_GONE")
        answered, failed = (collector.only(f"{operation} {name}") for name in ("small", "gone"))
    assert attributes_of(answered) == {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "mistral",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 12,
    }
    assert attributes_of(failed)["error.type"] == failed.status.message == "MODEL_GONE"
    assert b"words" not in failed.SerializeToString()
