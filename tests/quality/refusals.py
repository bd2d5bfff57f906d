"""How often quoted answers refuse what has no answer: `python -m tests.quality.refusals`.

Asks a running mesh without a chat model (`--address`) the labelled questions of the demo base,
whose documents its workspace (`--workspace`) holds, and prints the rates of docs/quality.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from justesse.client import DEFAULT_ADDRESS, Answer, AnswerOrigin, Justesse

QUESTIONS = Path(__file__).parents[2] / "demo" / "labelled_questions.jsonl"


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled question and what became of it; `documents` are those that answer it."""

    question: str
    documents: frozenset[str]
    answer: Answer

    @property
    def refused(self) -> bool:
        """Whether it was refused."""
        return self.answer.outcome.origin is AnswerOrigin.REFUSED

    @property
    def cites_the_right_one(self) -> bool:
        """Whether a document that answers is cited."""
        cited = {citation.document_id for citation in self.answer.citations}
        return not cited.isdisjoint(self.documents)


def main() -> None:
    """Asks, prints the rates, and the questions that were misjudged."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.refusals", description=__doc__)
    parser.add_argument("--address", default=DEFAULT_ADDRESS)
    parser.add_argument("--workspace", default="handbook")
    arguments = parser.parse_args()
    with Justesse(arguments.address) as justesse:
        asked = [
            Asked(
                label["question"],
                frozenset(label["documents"]),
                justesse.answer(arguments.workspace, label["question"]),
            )
            for label in map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
        ]
    answerable = [each for each in asked if each.documents]
    others = [each for each in asked if not each.documents]
    answered = [each for each in answerable if not each.refused]
    right = sum(each.cites_the_right_one for each in answered)
    print(f"answerable, answered: {len(answered)} of {len(answerable)}")
    print(f"of these, citing a document that answers: {right}")
    print(f"unanswerable, refused: {sum(each.refused for each in others)} of {len(others)}")
    _list("answerable, refused", [each for each in answerable if each.refused])
    _list("unanswerable, answered", [each for each in others if not each.refused])


def _list(title: str, asked: Sequence[Asked]) -> None:
    print(f"\n{title}:")
    for each in asked:
        print(f"- {each.question}")


if __name__ == "__main__":
    main()
