"""`justesse answer`: the words as they come, then what they rest on."""

from __future__ import annotations

import pytest

from justesse.gateway.v1 import answers_pb2
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway.answers import ANSWER_PIECES, answer_events

ASKED = ("answer", "Quel est le délai de retour ?", "-w", "demo")


def test_the_answer_stands_first_and_its_sources_below(line: CommandLine) -> None:
    """Paragraphs stay; numbers are explained, the cut is told, the receipt comes last."""
    output = line.run(*ASKED, "--history", "user:Avant ?", width=120).stdout

    assert output.startswith("".join(ANSWER_PIECES) + "\n\n")
    below = " ".join(output.partition(ANSWER_PIECES[1])[2].split())
    assert "[1] Procédure retours · returns.md · page 3 · Guide › Retours" in below
    assert "The model reached its cap of tokens" in below
    assert below.index("cap of tokens") < below.index("Receipt")
    (request,) = line.state.answered
    assert request.search.history[0].text == "Avant ?"


def test_json_is_the_whole_answer(line: CommandLine) -> None:
    """One value with everything that the client knows."""
    answer = line.json(*ASKED)

    assert answer["text"] == "".join(ANSWER_PIECES)
    assert answer["citations"][0]["document_id"] == "returns.md"
    assert answer["outcome"]["end"] == "truncated"


@pytest.mark.parametrize(
    ("origin", "end", "refusal", "remark"),
    [
        (answers_pb2.ANSWER_ORIGIN_EXTRACTED, answers_pb2.ANSWER_END_COMPLETE, "", "Quoted from"),
        (answers_pb2.ANSWER_ORIGIN_MODEL, answers_pb2.ANSWER_END_INCOMPLETE, "", "broke off"),
        (
            answers_pb2.ANSWER_ORIGIN_REFUSED,
            answers_pb2.ANSWER_END_COMPLETE,
            "NO_HITS",
            "Not answered: NO_HITS: no passage",
        ),
    ],
)
def test_what_the_answer_is_not_is_said(
    line: CommandLine,
    origin: answers_pb2.AnswerOrigin.ValueType,
    end: answers_pb2.AnswerEnd.ValueType,
    refusal: str,
    remark: str,
) -> None:
    """Quoted sentences, an answer that broke off, and a refusal."""
    line.state.answer_events = answer_events("r-1")
    outcome = line.state.answer_events[-1].outcome
    outcome.origin, outcome.end = origin, end
    if refusal:
        outcome.refusal.reason, outcome.refusal.detail = refusal, "no passage was found"

    assert remark in line.run(*ASKED, width=120).stdout


def test_control_characters_of_a_model_reach_no_terminal(line: CommandLine) -> None:
    """Not even in pieces; line breaks stay."""
    line.state.answer_events = answer_events("r-1")
    line.state.answer_events[1].delta.text = "rouge \x1b[31m\nvert\r\x07"

    output = line.run(*ASKED).stdout
    assert "\x1b" not in output
    assert "\x07" not in output
    assert "\nvert" in output


def test_a_missing_workspace_is_one_line(line: CommandLine) -> None:
    """As for a search."""
    error = line.error("answer", "Quel délai ?", "-w", "none", code=3)

    assert "none" in error
