"""A model that reads the question and passages, and says which passage answers best."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from chassis.deadline import Deadline
from reranker_svc.bill import Bill


@dataclass(frozen=True, slots=True)
class Passage:
    """What a model reads of a candidate."""

    title: str
    text: str

    @property
    def titled_text(self) -> str:
        """The text below its title."""
        return f"{self.title}\n{self.text}".strip()


@dataclass(frozen=True, slots=True)
class ModelOrder:
    """The order a model gives to n passages.

    `order` is a permutation of 0 to n - 1, best first. `scores` has one value for each passage, by
    index, not by place; None for all where the model gives an order alone. `provider` and `model`
    say who gave it; `model` is empty where a server has one model and does not name it.
    """

    order: tuple[int, ...]
    scores: tuple[float | None, ...]
    provider: str
    model: str


class PassageModel(Protocol):
    """Orders passages; raises ServiceError where it cannot."""

    @property
    def name(self) -> str:
        """What messages call it."""

    async def order(
        self, question: str, passages: Sequence[Passage], deadline: Deadline, bill: Bill
    ) -> ModelOrder:
        """Orders at least two passages that are not blank, before the deadline.

        Each answer goes on the bill before it is judged. Raises ResourceExhausted where it has to
        be paid for and the bill may not be.
        """

    def running(self) -> AbstractAsyncContextManager[None]:
        """Readies the model, and gives back what it holds at the end; calls are made inside."""


def order_by_scores(scores: Sequence[float]) -> tuple[int, ...]:
    """Returns the indices of the scores, highest first; ties keep their order."""
    return tuple(sorted(range(len(scores)), key=lambda index: -scores[index]))
