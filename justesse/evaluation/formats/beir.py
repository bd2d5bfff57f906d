"""A folder in the BEIR layout: corpus.jsonl, queries.jsonl, and labels in qrels/."""

from pathlib import Path
from typing import Any

from justesse.evaluation.formats.lines import json_lines, plain_metadata, text_field
from justesse.evaluation.formats.qrels import read_qrels
from justesse.evaluation.judged_set import (
    BadSetError,
    JudgedDocument,
    JudgedSet,
    Question,
    checked_set,
)

_QRELS = ("test.tsv", "dev.tsv", "train.tsv")


def read_beir(folder: Path, *, qrels: Path | None = None) -> JudgedSet:
    """Reads a folder; without `qrels`, the labels are test, dev or train, whichever is there.

    Questions without a label, and documents without text, are left out.
    """
    labels = qrels or _own_qrels(folder)
    grades = read_qrels(labels)
    documents = [
        _document(folder / "corpus.jsonl", line, value)
        for line, value in json_lines(folder / "corpus.jsonl")
        if str(value.get("text", "")).strip()
    ]
    questions = [
        Question(
            question_id,
            text_field(folder / "queries.jsonl", line, value, "text"),
            own,
            metadata=plain_metadata(value.get("metadata")),
        )
        for line, value in json_lines(folder / "queries.jsonl")
        if (own := grades.get(question_id := _id(folder / "queries.jsonl", line, value)))
    ]
    return checked_set(folder.name, questions, documents)


def _own_qrels(folder: Path) -> Path:
    for name in _QRELS:
        if (folder / "qrels" / name).is_file():
            return folder / "qrels" / name
    raise BadSetError(f"{folder / 'qrels'} holds none of {', '.join(_QRELS)}")


def _id(path: Path, line: int, value: dict[str, Any]) -> str:
    return text_field(path, line, value, "_id" if "_id" in value else "id")


def _document(path: Path, line: int, value: dict[str, Any]) -> JudgedDocument:
    title = value.get("title") or ""
    return JudgedDocument(
        _id(path, line, value),
        title if isinstance(title, str) else "",
        text_field(path, line, value, "text"),
        plain_metadata(value.get("metadata")),
    )
