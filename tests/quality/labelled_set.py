"""A labelled retrieval set in the BEIR layout, with a fixed sample of its questions."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = 20260101


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A document of the set."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the ids of the documents that answer it, one at least."""

    question_id: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A set: all its documents, and those of its questions that are sampled."""

    name: str
    language: str
    documents: tuple[LabelledDocument, ...]
    questions: tuple[LabelledQuestion, ...]


def read_set(folder: Path, *, language: str, sample: int) -> LabelledSet:
    """Reads corpus.jsonl, queries.jsonl and qrels/test.tsv; samples questions that have a label.

    The sample depends on the set's questions and SEED alone.
    """
    relevant: dict[str, set[str]] = defaultdict(set)
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                relevant[row["query-id"]].add(row["corpus-id"])
    documents = tuple(
        LabelledDocument(line["_id"], line.get("title", ""), line["text"])
        for line in _lines(folder / "corpus.jsonl")
        if line["text"].strip()
    )
    questions = [
        LabelledQuestion(line["_id"], line["text"], frozenset(relevant[line["_id"]]))
        for line in _lines(folder / "queries.jsonl")
        if relevant[line["_id"]]
    ]
    if len(questions) > sample:
        questions = random.Random(SEED).sample(questions, sample)
    return LabelledSet(folder.name, language, documents, tuple(questions))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
