"""The figures on labelled sets: samples, hits and intervals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.quality.evidence_table import kept_rows as kept_evidence_rows
from tests.quality.evidence_table import shown_rows
from tests.quality.hit_rates import hits_at, mean_interval
from tests.quality.labelled_set import read_set
from tests.quality.reranking_table import RESULT, kept_result, kept_rows, readme_rows
from tests.quality.switch_table import (
    DEMO,
    demo_rows,
    floor_rows,
    kept_results,
    public_rows,
)
from tests.quality.switches import PUBLIC_SETS


def write_set(folder: Path, questions: int) -> None:
    """Writes a set whose question n is answered by document n alone, but for the last one."""
    (folder / "qrels").mkdir(parents=True)
    rows = ["query-id\tcorpus-id\tscore"]
    rows += [f"q{at}\td{at}\t{int(at < questions - 1)}" for at in range(questions)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n")
    documents = [
        {"_id": f"d{at}", "title": "", "text": f"texte {at}" if at else " "}
        for at in range(questions)
    ]
    asked = [{"_id": f"q{at}", "text": f"question {at}"} for at in range(questions)]
    for name, lines in (("corpus", documents), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_sample_is_fixed_and_labelled(tmp_path: Path) -> None:
    """The same questions each time, none without a relevant document; blank documents are out."""
    write_set(tmp_path / "set", 40)

    once = read_set(tmp_path / "set", language="fr", sample=10)
    again = read_set(tmp_path / "set", language="fr", sample=10)
    whole = read_set(tmp_path / "set", language="fr", sample=100)

    assert once == again
    assert len(once.questions) == 10
    assert len(whole.questions) == 39
    assert len(whole.documents) == 39
    assert all(question.relevant == {f"d{question.question_id[1:]}"} for question in once.questions)


def test_a_hit_is_a_relevant_document_within_the_depth() -> None:
    """One of several suffices, and an empty ranking hits nothing."""
    rankings = [["a", "b", "c"], ["a", "b", "c"], []]
    relevant = [frozenset("cz"), frozenset("b"), frozenset("a")]

    assert hits_at(1, rankings, relevant).tolist() == [0.0, 0.0, 0.0]
    assert hits_at(2, rankings, relevant).tolist() == [0.0, 1.0, 0.0]
    assert hits_at(3, rankings, relevant).tolist() == [1.0, 1.0, 0.0]


def test_an_interval_holds_the_mean_and_narrows_with_the_questions() -> None:
    """For a proportion p of n questions it is about 1.96 * sqrt(p * (1 - p) / n) to each side."""
    few = mean_interval(np.array([1.0, 0.0] * 50))
    many = mean_interval(np.array([1.0, 0.0] * 500))

    assert few.value == many.value == 0.5
    assert few.high - few.low == pytest.approx(2 * 1.96 * 0.05, rel=0.1)
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.5 / 1000**0.5, rel=0.1)
    assert mean_interval(np.zeros(10)).high == 0.0


def test_the_page_shows_what_was_measured() -> None:
    """Every row of docs/quality.md about reranking equals the kept result."""
    page = (RESULT.parents[1] / "quality.md").read_text().splitlines()
    rows = kept_rows()

    assert len(rows) > 1
    assert [row for row in rows if row not in page] == []


def test_the_readme_shows_what_was_measured() -> None:
    """Every row of its table equals the kept result."""
    readme = (RESULT.parents[2] / "README.md").read_text().splitlines()
    rows = readme_rows(kept_result())

    assert len(rows) > 1
    assert [row for row in rows if row not in readme] == []


def test_the_page_shows_what_the_switches_brought() -> None:
    """Every row about the public sets, the demo base and its floors equals the kept results."""
    page = (RESULT.parents[1] / "quality.md").read_text().splitlines()
    results = kept_results()
    rows = [*public_rows(results), *demo_rows(results), *floor_rows(results)]

    assert [each["set"] for each in results] == [*PUBLIC_SETS, DEMO]
    assert len(rows) == 3 * len(PUBLIC_SETS) + 4 + 3
    assert [row for row in rows if row not in page] == []


def test_the_page_shows_the_evidence_that_is_kept() -> None:
    """Row by row."""
    page = (RESULT.parents[1] / "quality.md").read_text("utf-8")
    assert shown_rows(page) == kept_evidence_rows()
    assert len(shown_rows(page)) > 6
