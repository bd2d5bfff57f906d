"""Reranking models that do as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from chassis.deadline import Deadline
from reranker_svc.bill import Bill, Charge
from reranker_svc.cost_cap import cost_cap_reached
from reranker_svc.passage_model import ModelOrder, Passage


@dataclass
class FakePassageModel:
    """Turns the passages round, unless it is to raise or to be slow.

    With `paid_before_failure` what it does then has its price. `asked` holds the question, the
    passages and the seconds of each call.
    """

    name: str = "fake"
    model: str = "turn-round"
    error: Exception | None = None
    delay_s: float = 0.0
    paid_before_failure: bool = False
    asked: list[tuple[str, tuple[Passage, ...], float]] = field(default_factory=list)

    async def order(
        self, question: str, passages: Sequence[Passage], deadline: Deadline, bill: Bill
    ) -> ModelOrder:
        """Answers last to first, with scores that say so; takes 0.25 euros for it."""
        if not bill.may_pay:
            raise cost_cap_reached()
        self.asked.append((question, tuple(passages), deadline.remaining()))
        count = len(passages)
        if self.paid_before_failure:
            bill.add(self._charge(count))
        await asyncio.sleep(self.delay_s)
        if self.error is not None:
            raise self.error
        if not self.paid_before_failure:
            bill.add(self._charge(count))
        return ModelOrder(
            tuple(reversed(range(count))),
            tuple(float(at) for at in range(count)),
            provider=self.name,
            model=self.model,
        )

    def _charge(self, count: int) -> Charge:
        return Charge(self.name, self.model, 10 * count, count, 0.25, "EUR")

    def running(self) -> AbstractAsyncContextManager[None]:
        """Has nothing to ready."""
        return nullcontext()
