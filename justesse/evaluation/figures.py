"""Figures of rankings, by ir-measures (extra `eval`), question by question.

hit@k is 1 where a relevant document is among the first k (Success@k of TREC), MRR@10 the mean of
one over the first relevant rank (RR@10), recall@10 the share of relevant documents among the first
ten, nDCG@10 that of Järvelin and Kekäläinen (2002) over the grades.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from justesse.evaluation.judged_set import Question

FIGURES = ("hit@1", "hit@3", "hit@10", "recall@10", "MRR@10", "nDCG@10")
"""Names of the figures, in the order of reports."""

_MEASURES = {
    "hit@1": "Success@1",
    "hit@3": "Success@3",
    "hit@10": "Success@10",
    "recall@10": "R@10",
    "MRR@10": "RR@10",
    "nDCG@10": "nDCG@10",
}

Figures = Mapping[str, Mapping[str, float]]
"""Values, 0 to 1, by figure and question id."""


class MissingExtraError(RuntimeError):
    """A package that is not installed; the text says how to install it."""


def figures_of(questions: Sequence[Question], rankings: Mapping[str, Sequence[str]]) -> Figures:
    """Returns every figure of every answerable question; one without a ranking gets 0.

    `rankings` has document ids by question id, best first, each once.
    """
    measures = extra("ir_measures")
    judged = [question for question in questions if question.answerable]
    labels = {question.question_id: dict(question.grades) for question in judged}
    # Scores only carry the order.
    scores = {
        question.question_id: {
            document: 1.0 / rank
            for rank, document in enumerate(rankings.get(question.question_id, ()), start=1)
        }
        for question in judged
    }
    asked = {name: measures.parse_measure(measure) for name, measure in _MEASURES.items()}
    values = {name: {question.question_id: 0.0 for question in judged} for name in FIGURES}
    names = {str(measure): name for name, measure in asked.items()}
    for found in measures.iter_calc(list(asked.values()), labels, scores):
        values[names[str(found.measure)]][found.query_id] = float(found.value)
    return values


def require_extra() -> None:
    """Raises MissingExtraError unless everything that figures and reports need is installed."""
    for module in ("ir_measures", "matplotlib.figure"):
        extra(module)


def extra(module: str) -> Any:
    """Returns a module of the extra `eval`; raises MissingExtraError if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{module} is not installed; run: {sys.executable} -m pip install 'justesse[eval]'"
        ) from error
