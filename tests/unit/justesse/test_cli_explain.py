"""`justesse explain`: the outcome first, then the numbers of every stage, at any width."""

import pytest

from justesse.cli.explanation_tables import reranking_in_words
from justesse.client import RerankStep
from tests.fakes.command_line import CommandLine, rows
from tests.fakes.fake_gateway import SPACE
from tests.fakes.fake_gateway.explanations import EXPLAINED_ID

ASKED = ("explain", "Pourquoi des retards ?", "-w", "demo", "-d", EXPLAINED_ID)


@pytest.mark.parametrize("width", [80, 140])
def test_a_returned_passage_shows_what_brought_it(line: CommandLine, width: int) -> None:
    """Places in the lists, fusion, terms and the formula, each with its numbers."""
    output = line.run(*ASKED, "--passage", "4", width=width).stdout
    words = " ".join(output.split())

    assert "[4] page 3 · Causes returned; place 1 of 2" in words
    assert ["bm25, wording 1", "34", "34", "12.500", "cut", "-"] in rows(output)
    assert "2.5 0.875 0.0160 50%" in words
    assert "Fused: place 3, score 0.0320" in words
    assert "Terms: retard 9.25 · livraison 3.25" in words
    assert (
        "Reranked by formula (built-in): place 3 became 1; 0.875 = 0.50 x 0.750 (similarity) + "
        "0.50 x 1.000 (BM25)" in words
    )
    assert max(map(len, output.splitlines())) <= width


def test_the_way_of_the_search_is_told(line: CommandLine) -> None:
    """Document, wordings with their origin, lists with their sizes, and the receipt."""
    words = " ".join(line.run(*ASKED, width=120).stdout.split())

    assert "Analyse des retards de livraison" in words
    assert f"{EXPLAINED_ID} · version 2024-05 · 22 passages" in words
    assert "Also searched for, written by a model: causes retards livraison" in words
    assert "Reranked for: Pourquoi des retards au Havre ?" in words
    assert f"Lists, cut at 20: bm25, wording 1 7, {SPACE}, wording 2 20 (approximate)." in words
    assert "24 candidates after fusion, 2 hits wanted." in words
    assert "Documents changed meanwhile" in words
    assert "rerank degraded UNAVAILABLE: the reranker does not answer" in words


def test_other_passages_have_a_line_each(line: CommandLine) -> None:
    """Three in full, ten more in brief, the rest is counted."""
    output = line.run(*ASKED, width=120).stdout
    words = " ".join(output.split())

    assert "[5] not returned: place 3 in the final order; the limit is 2" in words
    assert "Reranked by small (mistral): place 2 became 3 [6]" in words
    assert output.count("not returned: no list holds it among its first 20") == 11
    assert "5 more passages; --passage N shows one, --json all." in words


@pytest.mark.parametrize(
    ("provider", "model", "sorter"),
    [("tei", "", "tei"), ("cohere", "rerank-v3.5", "rerank-v3.5 (cohere)"), ("", "", "reranker")],
)
def test_whoever_reranked_is_named(provider: str, model: str, sorter: str) -> None:
    """A server with one model does not name it."""
    step = RerankStep(2, 1, 0.5, formula_parts=None, provider=provider, model=model)

    assert reranking_in_words(step) == f"Reranked by {sorter}: place 2 became 1; score 0.500"


def test_a_narrow_terminal_cuts_nothing(line: CommandLine) -> None:
    """Every value stands below its name."""
    output = line.run(*ASKED, "-p", "4", width=40).stdout

    assert ["Counts as", "2.5"] in rows(output)
    assert max(map(len, output.splitlines())) <= 40


def test_json_holds_everything(line: CommandLine) -> None:
    """All passages, and options of the search that went along."""
    told = line.json(*ASKED, "-n", "2", "--per-document", "1", "-f", "category=shipments")

    assert len(told["passages"]) == 18
    assert told["passages"][0]["rerank"]["formula_parts"]["similarity_weight"] == 0.5
    (request,) = line.state.explanations
    assert (request.search.limit, request.search.passages_per_document) == (2, 1)
    assert request.search.filter.equals.value.string_value == "shipments"


def test_what_cannot_be_explained_is_one_line(line: CommandLine) -> None:
    """An unknown document, a missing one, and a position below 0."""
    unknown = line.error("explain", "q", "-w", "demo", "-d", "nope", code=3)
    assert "no document 'nope'" in unknown
    assert "--document" in line.error("explain", "q", "-w", "demo", code=2)
    assert "--passage" in line.error(*ASKED, "-p", "-1", code=2)
