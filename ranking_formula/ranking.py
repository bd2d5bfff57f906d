"""What the formula is given and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Similarity(Protocol):
    """A candidate's similarity to the question in one vector space.

    Both values are cosines, -1 to 1; None where they cannot be computed.
    """

    @property
    def space_id(self) -> str:
        """The vector space."""
        ...

    @property
    def cosine(self) -> float | None:
        """Cosine of question and passage."""
        ...

    @property
    def best_window_cosine(self) -> float | None:
        """Best cosine of the question and a window of the passage."""
        ...


class ScoredCandidate(Protocol):
    """A passage with the scores that a search computed for it; at most one a space."""

    @property
    def passage_id(self) -> str:
        """Id of the passage."""
        ...

    @property
    def space_scores(self) -> Sequence[Similarity]:
        """Similarities by space."""
        ...

    @property
    def bm25_score(self) -> float | None:
        """BM25 score, at least 0; None where it cannot be computed."""
        ...


@dataclass(frozen=True, slots=True)
class FormulaParts:
    """What a score of the formula is made of: w * d + (1 - w) * b.

    `similarity_share` is d, `lexical_share` b, both 0 to 1; one that no candidate has is None and
    its weight 0. `similarity_weight` is w. `space_id` is empty where there is no d.
    """

    space_id: str
    similarity_share: float | None
    lexical_share: float | None
    similarity_weight: float


class RankedPassage(NamedTuple):
    """A place in the new order; `score` compares inside one ranking only.

    `score` is None for a candidate that kept its place. `formula_parts` is None where nobody asked
    for them, or where the formula gave no score.
    """

    passage_id: str
    score: float | None = None
    formula_parts: FormulaParts | None = None
