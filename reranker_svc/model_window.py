"""The candidates that a model looks at."""

from dataclasses import dataclass

from ranking_formula.placement import placed
from reranker_svc.passage_model import ModelOrder, Passage
from reranker_svc.reranking import Candidate, RankedPassage


@dataclass(frozen=True, slots=True)
class ModelWindow:
    """The passages at the front that are not blank; `indices` are their candidates'.

    Blank ones and those behind the window keep their places.
    """

    candidates: tuple[Candidate, ...]
    indices: tuple[int, ...]

    @classmethod
    def of(cls, candidates: tuple[Candidate, ...], count: int) -> "ModelWindow":
        """Returns the window of the first `count` candidates."""
        front = enumerate(candidates[:count])
        return cls(candidates, tuple(at for at, candidate in front if candidate.text.strip()))

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What the model reads."""
        shown = (self.candidates[index] for index in self.indices)
        return tuple(Passage(candidate.title, candidate.text) for candidate in shown)

    def ordered(self, answer: ModelOrder) -> tuple[RankedPassage, ...]:
        """Returns every candidate once, those of the window in the model's order."""
        best_first = [self.indices[at] for at in answer.order]
        scores = dict(zip(self.indices, answer.scores, strict=True))
        return tuple(
            RankedPassage(self.candidates[at].passage_id, scores.get(at))
            for at in placed(len(self.candidates), [best_first])
        )
