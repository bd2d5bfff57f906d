"""What the embedded formula costs over the candidates of one question.

The ratio is to a plain sort of as many scores, the least work that any ordering needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from ranking_formula.formula import rank_by_formula
from reranker_svc.reranking import Candidate, SpaceScore

CANDIDATES = 40
CALLS_A_ROUND = 50
SEED = 7


def measure(quick: bool) -> dict[str, float]:
    """Returns the median milliseconds of the formula and of the sort, and their ratio."""
    candidates = _candidates()
    scores = [candidate.bm25_score or 0.0 for candidate in candidates]
    formula: list[float] = []
    sorting: list[float] = []
    for _ in range(3 if quick else 60):
        formula.append(_milliseconds(lambda: rank_by_formula(candidates, similarity_weight=0.5)))
        sorting.append(_milliseconds(lambda: sorted(scores, reverse=True)))
    return {
        f"formula over {CANDIDATES} candidates, median ms": median(formula),
        f"sort of {CANDIDATES} scores, median ms": median(sorting),
        "formula / sort": median(formula) / median(sorting),
    }


def _milliseconds(call: Callable[[], object]) -> float:
    """Returns the mean time of one call over a round; a single call is too short to time."""
    start = time.perf_counter()
    for _ in range(CALLS_A_ROUND):
        call()
    return (time.perf_counter() - start) * 1000.0 / CALLS_A_ROUND


def _candidates() -> list[Candidate]:
    drawn = np.random.default_rng(SEED).random((CANDIDATES, 3)).tolist()
    return [
        Candidate(
            passage_id=f"p{number}",
            space_scores=(SpaceScore("space", cosine=cosine, best_window_cosine=window),),
            bm25_score=20.0 * lexical,
        )
        for number, (cosine, window, lexical) in enumerate(drawn)
    ]
