"""Labelled questions from every kind of file, and words for what is wrong in one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from justesse.evaluation.formats.qrels import read_qrels
from justesse.evaluation.formats.sets import read_set
from justesse.evaluation.formats.trec_run import read_run, write_run
from justesse.evaluation.judged_set import BadSetError, JudgedDocument, JudgedSet, Question


def beir(folder: Path, *, qrels: str = "test.tsv") -> Path:
    """Writes a set of three documents and three questions, one of them without a label."""
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / qrels).write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td3\t1\nq3\td1\t0\n"
    )
    documents = [
        {"_id": "d1", "title": "Un", "text": "texte un", "metadata": {"year": 2024, "tags": []}},
        {"_id": "d2", "text": "texte\u2028deux"},
        {"_id": "d3", "title": "", "text": "trois"},
        {"_id": "d4", "text": "  "},
    ]
    questions = [{"_id": f"q{at}", "text": f"question {at}"} for at in (1, 2, 3)]
    for name, lines in (("corpus", documents), ("queries", questions)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("qrels", ["test.tsv", "dev.tsv", "train.tsv"])
def test_a_beir_folder_is_read(tmp_path: Path, qrels: str) -> None:
    """Grades of 0, questions without a label and blank documents are left out."""
    judged = read_set(beir(tmp_path / "set", qrels=qrels))

    assert judged.name == "set"
    assert [(each.question_id, dict(each.grades)) for each in judged.questions] == [
        ("q1", {"d1": 2, "d2": 1}),
        ("q2", {"d3": 1}),
    ]
    assert judged.documents[0] == JudgedDocument("d1", "Un", "texte un", {"year": 2024})
    assert [document.text for document in judged.documents[1:]] == ["texte\u2028deux", "trois"]


def test_trec_labels_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    """Four columns with an iteration, and no header."""
    folder = beir(tmp_path / "set")
    labels = tmp_path / "labels.qrels"
    labels.write_text("q3 0 d2 1\nq3 0 d1 0\n")

    [question] = read_set(folder, labels).questions

    assert (question.question_id, question.grades) == ("q3", {"d2": 1})


def test_trec_labels_may_have_tabs(tmp_path: Path) -> None:
    """A first line that ends with a number is no header."""
    labels = tmp_path / "labels"
    labels.write_text("q1\t0\td1\t1\nq2\t0\td2\t1\n")

    assert read_qrels(labels) == {"q1": {"d1": 1}, "q2": {"d2": 1}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,question,document,domain\nx,Quel prix ?,d1|d2,prix\ny,Et ?,,\n"),
        ("b.csv", "\ufeffid;question;document;domain\nx;Quel prix ?;d1|d2;prix\ny;Et ?;;\n"),
        ("c.tsv", "id\tquestion\tdocument\tdomain\nx\tQuel prix ?\td1|d2\tprix\ny\tEt ?\t\t\n"),
        (
            "d.jsonl",
            '{"id": "x", "question": "Quel prix ?", "documents": ["d1", "d2"], "domain": "prix"}\n'
            '\n{"id": "y", "question": "Et ?", "documents": []}\n',
        ),
    ],
)
def test_a_question_file_is_read(tmp_path: Path, name: str, text: str) -> None:
    """CSV with comma or semicolon, tabs, and lines of JSON say the same."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    assert read_set(file).questions == (
        Question("x", "Quel prix ?", {"d1": 1, "d2": 1}, "prix"),
        Question("y", "Et ?", {}),
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "question,answer\nx,y\n", "columns question and document"),
        ("a.txt", "x", "neither .csv"),
        ("a.jsonl", "", "no question"),
        ("a.jsonl", '{"question": "x"', "line 1: no JSON"),
        ("a.jsonl", "[1]", "line 1: not an object"),
        ("a.jsonl", '{"question": " ", "documents": []}', "line 1: question is missing"),
        ("a.jsonl", '{"question": "x"}', "line 1: documents must be a list"),
        ("a.jsonl", '{"question": "x", "documents": [1]}', "line 1: documents must be a list"),
        (
            "a.jsonl",
            '{"id": "q", "question": "x", "documents": []}\n'
            '{"id": "q", "question": "y", "documents": []}',
            "question q stands there twice",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    """The file, the line, and what to do."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadSetError, match=words) as caught:
        read_set(file)

    assert name.partition(".")[0] in str(caught.value)


def test_a_label_of_a_document_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """It would count as never found."""
    folder = beir(tmp_path / "set")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tgone\t1\n")

    with pytest.raises(BadSetError, match="q1 names document gone"):
        read_set(folder)


@pytest.mark.parametrize("text", ["q1 d1\n", "q1 0 d1 high\n", "q\td\t1\nq\td\n"])
def test_bad_labels_are_told(tmp_path: Path, text: str) -> None:
    """With the line."""
    labels = tmp_path / "labels"
    labels.write_text(text)

    with pytest.raises(BadSetError, match=r"line [12]"):
        read_qrels(labels)


def test_rankings_go_out_and_come_back(tmp_path: Path) -> None:
    """In TREC's format, which has no room for white space in an id."""
    rankings = {"q1": ["d3", "d1", "d2"], "q2": ["d1"]}
    write_run(tmp_path / "run", rankings, "a tag")

    assert read_run(tmp_path / "run") == rankings
    assert (tmp_path / "run").read_text().splitlines()[0].split()[0::5] == ["q1", "a_tag"]


def test_foreign_rankings_are_sorted_by_score(tmp_path: Path) -> None:
    """Other programs write lines in any order, and documents twice."""
    run = tmp_path / "run"
    run.write_text("q Q0 a 3 0.1 x\nq Q0 b 1 0.9 x\nq Q0 c 2 0.9 x\n\nq Q0 b 4 0.0 x\n")

    assert read_run(run) == {"q": ["b", "c", "a"]}


@pytest.mark.parametrize("line", ["q Q0 d 1 0.5", "q Q0 d one 0.5 x", "q Q0 d 1 high x"])
def test_bad_rankings_are_told(tmp_path: Path, line: str) -> None:
    """With the line."""
    run = tmp_path / "run"
    run.write_text(f"{line}\n")

    with pytest.raises(BadSetError, match="line 1"):
        read_run(run)


def judged_set(questions: int, documents: int) -> JudgedSet:
    return JudgedSet(
        "set",
        tuple(Question(f"q{at}", f"question {at}", {f"d{at}": 1}) for at in range(questions)),
        tuple(JudgedDocument(f"d{at}", "", f"texte {at}") for at in range(documents)),
    )


def test_samples_are_fixed_by_their_seed() -> None:
    """The same questions for the same seed, others for another, in their own order."""
    judged = judged_set(50, 60)
    once = judged.sampled(10, 1)

    assert judged.sampled(10, 1) == once
    assert judged.sampled(10, 2) != once
    assert len(once.questions) == 10
    assert [q.question_id for q in once.questions] == sorted(
        (q.question_id for q in once.questions), key=lambda name: int(name[1:])
    )
    assert judged.sampled(None, 1) is judged.sampled(50, 1) is judged


@pytest.mark.parametrize(("count", "kept"), [(None, 60), (100, 60), (30, 30), (5, 10)])
def test_a_cut_keeps_every_judged_document(count: int | None, kept: int) -> None:
    """Even where they are more than wanted; the others are the same each time."""
    judged = judged_set(50, 60).sampled(10, 1)
    cut = judged.cut(count, 7)
    left = {document.document_id for document in cut.documents}

    assert len(left) == kept
    assert {name for question in judged.questions for name in question.grades} <= left
    assert judged.cut(count, 7) == cut
