"""The spans of calls of models; names and attributes by the conventions for generative AI."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Literal

from opentelemetry.trace import Span, SpanKind

from chassis.tracing.spans import span

ModelOperation = Literal["chat", "embeddings", "rerank"]


def model_span(
    operation: ModelOperation, provider: str, model: str, *, current: bool = True
) -> AbstractContextManager[Span | None]:
    """Returns what runs its block as the span of one call of a vendor's model.

    Where it is not `current`, spans that begin inside are not its children: a stream is read by
    others, in their own spans.
    """
    return span(
        f"{operation} {model}".rstrip(),
        {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
        },
        kind=SpanKind.CLIENT,
        current=current,
    )


def note_usage(call: Span | None, input_tokens: int | None, output_tokens: int | None) -> None:
    """Notes the tokens that a model read and wrote, where they are known."""
    if call is None:
        return
    if input_tokens is not None:
        call.set_attribute("gen_ai.usage.input_tokens", input_tokens)
    if output_tokens is not None:
        call.set_attribute("gen_ai.usage.output_tokens", output_tokens)
