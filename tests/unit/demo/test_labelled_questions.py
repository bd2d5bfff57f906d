"""The labelled questions of the demo: complete, well formed, and true to the documents."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[3] / "demo"
DOCUMENTS = DEMO / "documents"
SOURCES = DEMO / "sources"
DOMAINS = ("customers", "orders", "products", "shipments", "policies")
GROUPS = (*DOMAINS, "unanswerable")
FIELDS = {"id", "domain", "question", "answerable", "documents", "evidence"}

QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (DEMO / "labelled_questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [entry for entry in QUESTIONS if entry["answerable"]]
UNANSWERABLE = [entry for entry in QUESTIONS if not entry["answerable"]]


def one_spaced(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def text_source(document: str) -> str:
    """What a document says: its own text, or that of the source it was built from."""
    path = DOCUMENTS / document
    if path.suffix == ".html":
        return html.unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")))
    if path.suffix != ".md":
        path = SOURCES / f"{document}.md"
    return path.read_text(encoding="utf-8")


def test_the_questions_stay_as_they_were_before_any_result() -> None:
    """Whoever changes one measures something else from then on."""
    digest = hashlib.sha256((DEMO / "labelled_questions.jsonl").read_bytes()).hexdigest()

    assert digest == "dd22ff220f0d46c1a59fc168ec6d7736b3a91b4b6e5f5ab143b0dc18886961fa"


def test_there_are_sixty_questions_ten_a_group() -> None:
    """Ten for each of the five domains, ten that no document answers."""
    assert Counter(entry["domain"] for entry in QUESTIONS) == dict.fromkeys(GROUPS, 10)


def test_ids_are_unique_and_number_each_group() -> None:
    """An id is the name of its group and a number from 01 to 10."""
    expected = [f"{group}-{number:02d}" for group in GROUPS for number in range(1, 11)]
    assert [entry["id"] for entry in QUESTIONS] == expected
    assert all(entry["id"].rpartition("-")[0] == entry["domain"] for entry in QUESTIONS)


def test_no_question_is_asked_twice() -> None:
    """Sixty questions are sixty texts, none of them empty."""
    assert len({one_spaced(entry["question"]).casefold() for entry in QUESTIONS} - {""}) == 60


def test_every_line_has_the_agreed_fields() -> None:
    """The same fields on every line, and a reason where there is no answer."""
    assert all(set(entry) == FIELDS for entry in ANSWERABLE)
    assert all(set(entry) == FIELDS | {"why"} for entry in UNANSWERABLE)


def test_only_the_last_group_has_no_answer() -> None:
    """An unanswerable question names no document, quotes nothing and says why."""
    assert {entry["domain"] for entry in ANSWERABLE} == set(DOMAINS)
    assert {entry["domain"] for entry in UNANSWERABLE} == {"unanswerable"}
    assert all(entry["documents"] == [] and entry["evidence"] == "" for entry in UNANSWERABLE)
    assert all(entry["why"] for entry in UNANSWERABLE)


@pytest.mark.parametrize("entry", ANSWERABLE, ids=lambda entry: str(entry["id"]))
def test_named_documents_exist_in_the_folder_of_the_domain(entry: dict[str, Any]) -> None:
    """At least one document, each named once, each a file of the domain."""
    documents = entry["documents"]
    assert documents
    assert len(set(documents)) == len(documents)
    for document in documents:
        assert document.startswith(f"{entry['domain']}/")
        assert (DOCUMENTS / document).is_file()


@pytest.mark.parametrize("entry", ANSWERABLE, ids=lambda entry: str(entry["id"]))
def test_evidence_is_a_quote_from_the_first_document(entry: dict[str, Any]) -> None:
    """Word for word, white space aside."""
    evidence = one_spaced(entry["evidence"])
    assert evidence
    assert evidence in one_spaced(text_source(entry["documents"][0]))
