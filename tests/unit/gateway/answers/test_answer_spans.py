"""The trace of an answer, and what the log says of its request."""

from __future__ import annotations

from chassis.tracing.export import SpanExport, spans_exported
from tests.fakes.answers.desk import GOOD, desk
from tests.fakes.answers.tile_trade import QUESTION
from tests.fakes.answers.vendor import says
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.span_collector import attributes_of, span_collector


async def test_a_streamed_answer_is_one_tree(mesh: MeshOfFakes) -> None:
    """The chat model is below the stage, the stage below the request; tokens are known at the end.
    Neither question nor answer is in any span."""
    with span_collector() as collector:
        with spans_exported(SpanExport("gateway", collector.url)):
            async with desk(mesh, says(GOOD)) as (doors, _):
                heard = await doors.ask("sse")
        request = collector.only("POST /v1/answer")
        stage = collector.only("stage answer")
        (chat,) = [one for one in collector.spans if one.name.startswith("chat ")]
    assert heard.origin == "MODEL"
    assert chat.parent_span_id == stage.span_id
    assert stage.parent_span_id == request.span_id
    assert attributes_of(stage)["justesse.stage.outcome"] == "ran"
    said = attributes_of(chat)
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (20, 5)
    sent = b"".join(one.SerializeToString() for one in collector.spans)
    for words in (QUESTION, "30 jours"):
        assert words.encode() not in sent
