"""`justesse eval` against a gateway that always finds the same two documents."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chassis.errors import DeadlineExceeded
from justesse.evaluation.answers import AnswerFile
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway_in_thread

QUESTIONS = [
    {
        "id": "first",
        "question": "Pourquoi ?",
        "documents": ["shipments/retards.pdf"],
        "domain": "a",
    },
    {"id": "second", "question": "Où ?", "documents": ["orders/bl.md"], "domain": "b"},
    {"id": "missed", "question": "<Quand> ?", "documents": ["gone.md"], "domain": "b"},
    {"id": "none", "question": "Qui ?", "documents": []},
]


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """A command line in a folder with a set, and a mesh whose workspace "demo" answers it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(each) + "\n" for each in QUESTIONS))
    state = GatewayState()
    state.switches = {
        "rag_query_rewrite_enabled": "true",
        "rag_hybrid_search_enabled": "false",
        "rag_reranking_enabled": "true",
    }
    with fake_gateway_in_thread(state) as address:
        line = CommandLine(address, state)
        line.run("workspaces", "create", "demo")
        yield line


def test_a_running_mesh_is_measured_as_it_is(line: CommandLine, tmp_path: Path) -> None:
    """Figures by domain, a report, rankings for others to read; its switches stay."""
    before = dict(line.state.switches)
    output = line.run("eval", "run", "set.jsonl", "-w", "demo", width=100).stdout

    assert "current" in output
    assert "0.333" in output
    assert line.state.switches == before
    folder = tmp_path / "evaluation" / "set"
    result = json.loads((folder / "result.json").read_text())
    [measured] = result["configurations"]
    assert (result["question_count"], result["unanswerable_count"]) == (3, 1)
    assert measured["estimates"]["hit@1"]["all"]["mean"] == pytest.approx(1 / 3)
    assert measured["estimates"]["hit@3"]["b"]["mean"] == pytest.approx(1 / 2)
    assert measured["latencies"]["embed"] == {"p50_ms": 21.0, "p95_ms": 21.0}
    assert measured["degraded"] == {"rerank": 4}
    assert measured["cost"] == pytest.approx(0.00021)
    rows = list(csv.DictReader((folder / "figures.csv").read_text().splitlines()))
    assert {row["group"] for row in rows} == {"all", "a", "b"}
    ranked = (folder / "runs" / "current.trec").read_text().splitlines()
    assert ranked[0].split()[:4] == ["first", "Q0", "shipments/retards.pdf", "1"]


def test_the_report_loads_nothing_and_escapes_everything(line: CommandLine, tmp_path: Path) -> None:
    """Questions are data, and the file may be sent by mail."""
    line.run(
        "eval", "run", "set.jsonl", "-w", "demo", "-c", "current", "-c", "dense", "--set-switches"
    )
    report = (tmp_path / "evaluation" / "set" / "report.html").read_text()

    assert report.count("<svg") == 2
    assert "<Quand>" not in report
    assert "src=" not in report
    assert "<script" not in report


def test_switches_are_set_and_set_back(line: CommandLine) -> None:
    """Only where that is allowed, since others use the mesh too."""
    before = dict(line.state.switches)
    refusal = line.error("eval", "run", "set.jsonl", "-w", "demo", "-c", "hybrid", code=2)
    assert "--set-switches" in refusal

    line.run(
        "eval", "run", "set.jsonl", "-w", "demo", "-c", "dense", "-c", "hybrid", "--set-switches"
    )

    assert line.state.switches == before
    result = json.loads(Path("evaluation/set/result.json").read_text())
    assert [each["name"] for each in result["configurations"]] == ["dense", "hybrid"]
    assert result["configurations"][1]["differences"]["hit@1"]["all"]["mean"] == 0.0


def test_a_run_that_broke_off_goes_on(line: CommandLine) -> None:
    """What was answered is not asked again; another set goes elsewhere."""
    line.state.failures["SearchPassages"] = DeadlineExceeded("too late")
    line.run("eval", "run", "set.jsonl", "-w", "demo", code=6)
    line.state.failures.clear()
    line.run("eval", "run", "set.jsonl", "-w", "demo", "--sample", "2", "-o", "part")
    answers = Path("evaluation/set/answers/current.jsonl")
    answers.write_text(Path("part/answers/current.jsonl").read_text())
    line.state.searches.clear()

    line.run("eval", "run", "set.jsonl", "-w", "demo")
    assert len(line.state.searches) == 2
    line.run("eval", "run", "set.jsonl", "-w", "demo")
    assert len(line.state.searches) == 2
    assert len(answers.read_text().splitlines()) == 4

    refusal = line.error("eval", "run", "set.jsonl", "-w", "demo", "--sample", "2", code=2)
    assert "fingerprint" in refusal
    assert "--out" in refusal


def test_a_line_that_was_cut_is_asked_again(tmp_path: Path) -> None:
    """A process that is killed while it writes leaves half a line."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"question_id": "a", "docu')
    file = AnswerFile(path)

    assert file.read() == {}
    with file:
        pass
    assert path.read_text() == ""


def test_a_figure_that_is_missed_fails_the_command(line: CommandLine) -> None:
    """So that a build can be stopped."""
    line.run("eval", "run", "set.jsonl", "-w", "demo", "--require", "hit@3=0.6")
    result = line.run("eval", "run", "set.jsonl", "-w", "demo", "--require", "hit@3=0.7", code=1)

    assert "hit@3 of current is 0.667, under 0.7" in result.stderr


def test_two_results_are_compared(line: CommandLine) -> None:
    """A run against itself is no worse; a significant loss fails the command."""
    result = line.json("eval", "run", "set.jsonl", "-w", "demo")
    assert result["set_name"] == "set"
    path = Path("evaluation/set/result.json")
    line.run("eval", "compare", str(path), str(path))

    values = json.loads(path.read_text())
    many = {f"q{at}": 1.0 for at in range(30)}
    values["configurations"][0]["values"] = {"hit@1": many}
    Path("good.json").write_text(json.dumps(values))
    values["configurations"][0]["values"] = {"hit@1": dict.fromkeys(many, 0.0)}
    Path("bad.json").write_text(json.dumps(values))

    worse = line.run("eval", "compare", "good.json", "bad.json", code=1)
    assert "hit@1 of current fell from 1.000 to 0.000" in worse.stderr
    line.run("eval", "compare", "good.json", "bad.json", "--allow-worse")
    assert "no result of an evaluation" in line.error(
        "eval", "compare", "set.jsonl", "good.json", code=2
    )


def test_rankings_made_elsewhere_are_scored(line: CommandLine) -> None:
    """TREC runs in, figures out."""
    Path("good.trec").write_text(
        "first Q0 shipments/retards.pdf 1 1 x\nsecond Q0 orders/bl.md 1 1 x\n"
    )
    figures = line.json("eval", "score", "set.jsonl", "good.trec")

    assert figures["good.trec"]["hit@1"]["mean"] == pytest.approx(2 / 3)
    assert "0.667" in line.run("eval", "score", "set.jsonl", "good.trec", width=100).stdout


def test_a_question_is_asked_of_documents_that_share_its_metadata(line: CommandLine) -> None:
    """Of the names that are given, with the type the value has; another filter is another run."""
    asked = {"question": "Combien ?", "documents": ["orders/bl.md"], "metadata": {"idcc": 86}}
    Path("metadata.jsonl").write_text(json.dumps(asked))
    Path("metadata.csv").write_text("question,document,metadata.site\nOù ?,orders/bl.md,Brest\n")

    line.run("eval", "run", "metadata.jsonl", "-w", "demo", "--filter-by", "idcc")
    line.run("eval", "run", "metadata.csv", "-w", "demo", "--filter-by", "site", "-o", "sites")

    [number, text] = [each.filter.all_of.filters[0].equals for each in line.state.searches]
    assert (number.field, number.value.number_value) == ("metadata.idcc", 86)
    assert (text.field, text.value.string_value) == ("metadata.site", "Brest")
    assert "filter_by" in line.error("eval", "run", "metadata.jsonl", "-w", "demo", code=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "set.jsonl", "-w", "demo", "--filter-by", "idcc"), "no metadata idcc"),
        (("run", "set.jsonl", "-w", "demo", "--preset", "words"), "demo has its own"),
        (("run", "set.jsonl"), "--files"),
        (("run", "nothing.jsonl", "-w", "demo"), "not there"),
        (("run", "set.jsonl", "-w", "demo", "-c", "magic"), "'magic'"),
        (("run", "set.jsonl", "-w", "demo", "--require", "hit@2=1"), "hit@2"),
        (("run", "set.jsonl", "--files", "nowhere"), "no folder"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    line: CommandLine, arguments: tuple[str, ...], words: str
) -> None:
    """Before anything is started or asked."""
    assert words in line.error("eval", *arguments, code=2)
    assert line.state.searches == []
