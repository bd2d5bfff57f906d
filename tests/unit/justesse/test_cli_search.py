"""`justesse search`: passages, ranks, scores and receipt at any width."""

import re

import pytest

from justesse.gateway.v1 import search_pb2
from tests.fakes.command_line import CommandLine, rows
from tests.fakes.fake_gateway import SPACE


@pytest.mark.parametrize("width", [80, 120, 200])
def test_search_shows_every_stage(line: CommandLine, width: int) -> None:
    """Ranks stand above scores in the stages' columns, and no line is wider than the terminal."""
    output = line.run("search", "Pourquoi des retards ?", "-w", "demo", width=width).stdout
    table = rows(output)
    assert table[0] == ["Dense", "BM25", "Fused", "Rerank"]
    assert table[1] == ["#", "Passage", "cosine", "score", "score", "relative"]
    assert table[3] == ["1", "Analyse des retards de livraison", "2", "1", "3", "1"]
    assert table[4][-4:] == ["0.875", "12.50", "0.0325", "0.969"]
    assert table[4][0].startswith("shipments/retards.pdf · version 2024-05")
    assert "Each stage: rank, then score" in output
    assert ["2", "Bons de livraison", "-", "2", "7", "-"] in table
    assert ["orders/bl.md", "-", "3.25", "0.0161", "-"] in table
    assert max(len(row) for row in output.splitlines()) == width


def test_search_on_a_narrow_terminal(line: CommandLine) -> None:
    """Without room for columns every value stands below its passage, and nothing is cut."""
    output = line.run("search", "Pourquoi ?", "-w", "demo", width=40).stdout
    words = " ".join(output.replace("\u00a0", " ").split())
    assert "Dense 2 (0.875) · BM25 1 (12.50) · Fused 3 (0.0325) · Rerank 1 (0.969)" in words
    assert "rerank degraded, 0.0 ms UNAVAILABLE: the reranker does not answer" in words
    assert "embed ran, 21.0 ms, 9 tokens, 0.000210 EUR" in words
    assert max(len(row) for row in output.splitlines()) <= 40


def test_search_says_when_there_are_fewer(line: CommandLine) -> None:
    """Fewer passages than wanted are no riddle; as many as wanted need no word."""
    few = line.run("search", "q", "-w", "demo", "-n", "100").stdout
    assert "2 of the 100 wanted" in few
    assert "rag_hybrid_candidate_count" in few
    assert "wanted" not in line.run("search", "q", "-w", "demo", "-n", "2").stdout


@pytest.mark.parametrize("width", [40, 120])
def test_search_shows_blocks_where_asked_for(line: CommandLine, width: int) -> None:
    """Below the passage that is a part of one, and only there."""
    with_blocks = line.run("search", "q", "-w", "demo", "--parents", width=width).stdout
    without = line.run("search", "q", "-w", "demo", width=width).stdout

    assert line.state.searches[0].include_parents
    assert with_blocks.count("Block of passages 3 to 4:") == 1
    assert "Le bloc entier." in with_blocks
    assert "Block" not in without


def test_search_sends_the_conversation(line: CommandLine) -> None:
    """Turns go along in order, each with its speaker; one without a speaker is wrong usage."""
    turns = ("--history", "user: Et le port ?", "--history", "Assistant:Franco.")
    line.run("search", "q", "-w", "demo", *turns)
    sent = [(turn.role, turn.text) for turn in line.state.searches[-1].history]
    assert sent == [
        (search_pb2.CONVERSATION_ROLE_USER, "Et le port ?"),
        (search_pb2.CONVERSATION_ROLE_ASSISTANT, "Franco."),
    ]
    for turn in ("Franco.", "moi: Franco", "user: "):
        assert "SPEAKER:TEXT" in line.error("search", "q", "-w", "demo", "--history", turn, code=2)


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_colours_can_be_refused(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """NO_COLOR and a dumb terminal get none, even where colours are forced."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv(variable, "dumb")
    output = line.run("search", "q", "-w", "demo").stdout
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", output)


def test_search_shows_the_receipt(line: CommandLine) -> None:
    """Every stage's outcome, reason, worker, time and cost can be read."""
    output = line.run("search", "q", "-w", "demo", width=120).stdout
    request_id = line.state.request_ids[-1]
    assert f"Receipt {request_id}: 38.5 ms, 0.000210 EUR, degraded" in output
    receipt = rows(output[output.index("Receipt") :])
    assert [
        "rewrite",
        "skipped",
        "NOT_CONFIGURED: no chat model is configured",
        "1.2",
        "-",
        "-",
    ] in (receipt)
    assert [
        "embed",
        "ran",
        "multilingual-e5-small (built-in)",
        "21.0",
        "9",
        "0.000210 EUR",
    ] in receipt
    assert ["rerank", "degraded", "UNAVAILABLE: the reranker does not answer", "0.0", "-", "-"] in (
        receipt
    )
    assert "Also searched for: causes retards livraison" in output


def test_search_passes_its_options_on(line: CommandLine) -> None:
    """What is asked for on the command line is what the gateway hears."""
    line.run("search", "q", "--workspace", "demo", "--limit", "3", "--per-document", "1")
    request = line.state.searches[-1]
    assert (request.limit, request.passages_per_document) == (3, 1)


def test_search_as_json_holds_all_scores(line: CommandLine) -> None:
    """Programs get every list, space and stage, and absent values as null."""
    result = line.json("search", "q", "-w", "demo")
    assert result["hits"][0]["scores"]["space_scores"][0]["space_id"] == SPACE
    assert result["hits"][1]["scores"]["rerank_rank"] is None
    assert result["receipt"]["stages"][3]["outcome"] == "degraded"
    assert result["hits"][0]["source"]["update_time"] == "2023-11-14T22:13:20+00:00"
