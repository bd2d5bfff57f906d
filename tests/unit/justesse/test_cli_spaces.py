"""Embedding a workspace again from the command line and the client, against a gateway in memory."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from chassis.errors import FailedPrecondition, Unavailable
from justesse.cli.reembed import patiently
from justesse.client import (
    AsyncJustesse,
    FailedPreconditionError,
    GateVerdict,
    Justesse,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    UnavailableError,
)
from justesse.gateway.v1 import spaces_pb2
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import SPACE, GatewayState, fake_gateway

NEW = "mistral/mistral-embed@1/1024/l2/none"
PLAN = spaces_pb2.ReembedWorkspaceResponse(
    plan=spaces_pb2.ReembeddingPlan(
        preferred_space_id=SPACE,
        space_id=NEW,
        provider="mistral",
        model="mistral-embed",
        passage_count=9,
        awaiting_passage_count=7,
        token_estimate=1200,
        cost_estimate=0.00012,
        currency="USD",
    )
)
PROGRESS = [
    spaces_pb2.ReembedWorkspaceResponse(
        progress=spaces_pb2.ReembeddingProgress(done_passage_count=done, passage_count=9)
    )
    for done in (4, 9)
]
SWITCHED = spaces_pb2.ReembedWorkspaceResponse(
    outcome=spaces_pb2.ReembeddingOutcome(
        switched=True, previous_space_id=SPACE, preferred_space_id=NEW
    )
)
FAILED = spaces_pb2.ReembedWorkspaceResponse(
    verdict=spaces_pb2.GateVerdict(
        question_count=3,
        hit_count=5,
        overlap=0.25,
        old_hit_rate=1,
        new_hit_rate=0.5,
        detail="worse",
    )
)
KEPT = spaces_pb2.ReembedWorkspaceResponse(
    outcome=spaces_pb2.ReembeddingOutcome(preferred_space_id=SPACE, detail="worse")
)


@pytest.fixture
def state(line: CommandLine) -> GatewayState:
    """What the gateway holds, with a re-embedding that goes well."""
    line.state.reembedding_events = [PLAN, *PROGRESS, SWITCHED]
    return line.state


def test_a_dry_run_shows_what_it_would_take(line: CommandLine, state: GatewayState) -> None:
    """Tokens and price, and nothing else happens."""
    output = line.run("reembed", "demo", "--to", "mistral", "--dry-run").stdout

    assert "7 of 9 passages" in output
    assert "1200 tokens, 0.0001 USD" in output
    assert "Switched" not in output
    assert (state.reembeddings[0].dry_run, state.reembeddings[0].space_id) == (True, "mistral")


def test_progress_and_outcome_are_told(line: CommandLine, state: GatewayState) -> None:
    """Progress goes to standard error; the result says how to undo."""
    result = line.run("reembed", "demo", width=200)

    assert "4 of 9 passages" in result.stderr
    assert f"Switched to {NEW}" in result.stdout
    assert "justesse spaces switch" in result.stdout
    told = line.json("reembed", "demo")
    assert told["outcome"]["previous_space_id"] == SPACE
    assert told["progress"]["done_passage_count"] == 9


def test_questions_that_forbid_the_switch_are_an_exit_code(
    line: CommandLine, state: GatewayState, tmp_path: Path
) -> None:
    """Questions come from a file; those without a document do not count."""
    state.reembedding_events = [PLAN, FAILED, KEPT]
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"question": "Où ?", "documents": ["a.md"]}\n\n'
        '{"question": "Quoi ?", "documents": []}\n{"question": "Qui ?", "document": "b"}\n'
    )
    options = ("--questions", str(questions), "--hits", "5", "--min-overlap", "0.5")
    output = line.run("reembed", "demo", *options, code=1).stdout

    gate = state.reembeddings[0].gate
    assert [(one.query, list(one.external_ids)) for one in gate.questions] == [
        ("Où ?", ["a.md"]),
        ("Qui ?", ["b"]),
    ]
    assert (gate.hit_count, gate.min_overlap) == (5, 0.5)
    assert "1.000 before, 0.500 after" in output
    assert "Not switched: worse." in output


@pytest.mark.parametrize(
    "content", ["not json", '["a"]', '{"question": 3}', "", '{"question": "x", "documents": []}']
)
def test_files_that_hold_no_questions_are_refused(
    line: CommandLine, tmp_path: Path, content: str
) -> None:
    """The message names what was read."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text(content)

    assert "questions" in line.error("reembed", "demo", "--questions", str(questions), code=2)


def test_a_gate_without_questions_is_wrong_usage(line: CommandLine) -> None:
    """It would allow everything."""
    assert "--questions" in line.error("reembed", "demo", "--min-overlap", "0.5", code=2)


def test_a_lost_process_is_waited_for() -> None:
    """The call is sent again, with all patience back after progress; at last its error is shown."""
    progress = ReembeddingProgress(1, 2, 0, 0, None, "")
    down = UnavailableError("down", status="UNAVAILABLE")
    calls = 0
    pauses: list[float] = []

    def ask() -> Iterator[ReembeddingEvent]:
        nonlocal calls
        calls += 1
        if calls == 3:
            yield progress
        raise down

    with pytest.raises(UnavailableError):
        list(patiently(ask, pauses.append))

    assert pauses == [0.5, 1.0, 0.5, 1.0, 2.0, 4.0]


def test_a_call_that_breaks_off_is_continued(line: CommandLine, state: GatewayState) -> None:
    """The command ends with the outcome of the second call."""
    state.reembedding_breaks = [Unavailable("the ingestion role cannot be reached")]

    assert line.json("reembed", "demo")["outcome"]["switched"]
    assert len(state.reembeddings) == 2


def test_spaces_are_switched_and_dropped(line: CommandLine, state: GatewayState) -> None:
    """Dropping asks first; without a terminal it needs a yes."""
    output = line.run("spaces", "switch", "demo", NEW, "--require-complete", width=300).stdout
    refused = line.error("spaces", "drop", "demo", SPACE, code=2)
    dropped = line.run("spaces", "drop", "demo", SPACE, "--yes").stdout

    assert state.switched == [(NEW, True)]
    assert f"before: {SPACE}" in output
    assert "2 passages not yet in it" in output
    assert "--yes" in refused
    assert "Dropped 3 vectors" in dropped
    assert state.dropped == [(SPACE, False)]


def test_a_space_is_dropped_in_spite_of_what_only_it_holds(
    line: CommandLine, state: GatewayState
) -> None:
    """Where that was said, and with no less of a question."""
    line.error("spaces", "drop", "demo", SPACE, "--leave-waiting", code=2)
    line.run("spaces", "drop", "demo", SPACE, "--leave-waiting", "--yes")
    with Justesse(line.address) as justesse:
        justesse.drop_space("demo", NEW, leave_waiting=True)

    assert state.dropped == [(SPACE, True), (NEW, True)]


def test_the_synchronous_client_yields_events(line: CommandLine, state: GatewayState) -> None:
    """In order, decoded; leaving off early ends the call."""
    state.reembedding_events = [PLAN, *PROGRESS, FAILED, KEPT]
    with Justesse(line.address) as justesse:
        events = list(justesse.reembed("demo"))
        first = list(islice(justesse.reembed("demo"), 1))

    assert [type(event) for event in events] == [
        ReembeddingPlan,
        ReembeddingProgress,
        ReembeddingProgress,
        GateVerdict,
        ReembeddingOutcome,
    ]
    assert first == events[:1]


async def test_the_asyncio_client_yields_events() -> None:
    """An error of the service is raised where it came."""
    state = GatewayState(reembedding_events=[PLAN, *PROGRESS])
    state.reembedding_breaks = [FailedPrecondition("drifted", reason="SPACE_DRIFTED")]
    heard: list[ReembeddingEvent] = []

    async def listen(justesse: AsyncJustesse) -> None:
        async for event in justesse.reembed("demo"):
            heard.append(event)

    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        await justesse.create_workspace("demo")
        with pytest.raises(FailedPreconditionError) as failed:
            await listen(justesse)
        switched = await justesse.switch_space("demo", NEW)
        dropped = await justesse.drop_space("demo", NEW, leave_waiting=True)

    assert [type(event) for event in heard] == [ReembeddingPlan, ReembeddingProgress]
    assert failed.value.reason == "SPACE_DRIFTED"
    assert (switched.previous_space_id, dropped.vector_count) == (SPACE, 3)
    assert state.dropped == [(NEW, True)]
