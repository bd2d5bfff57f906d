"""Orders passages with a cross-encoder from a folder, on a thread of its own."""

from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager

import numpy as np

from chassis.deadline import Deadline
from chassis.step_worker import StepWorker
from reranker_svc.bill import Bill, Charge
from reranker_svc.folder.cross_encoder import CrossEncoder
from reranker_svc.passage_model import ModelOrder, Passage, order_by_scores


class FolderModel:
    """A CrossEncoder as a PassageModel.

    It works in steps of one text read or one batch scored, so that it ends soon after its caller
    has gone.
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        self._encoder = encoder
        self._worker = StepWorker("reranking")

    @property
    def name(self) -> str:
        """The word that the settings use for it."""
        return "folder"

    async def order(
        self, question: str, passages: Sequence[Passage], deadline: Deadline, bill: Bill
    ) -> ModelOrder:
        """Scores all passages, free of charge; raises Unavailable or DeadlineExceeded."""
        texts = [passage.titled_text for passage in passages]
        order, tokens = await self._worker.run(self._ordering(question, texts), deadline=deadline)
        bill.add(Charge(self.name, self._encoder.name, tokens, cost=0.0, currency="USD"))
        return order

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Brings the model into memory; at the end, ends the thread after the step at work.

        Raises Unavailable if the model cannot be used.
        """
        try:
            await self._worker.run(self._loading())
            yield
        finally:
            await self._worker.close()

    def _loading(self) -> Generator[None, None, None]:
        self._encoder.load()
        yield

    def _ordering(
        self, question: str, texts: Sequence[str]
    ) -> Generator[None, None, tuple[ModelOrder, int]]:
        """Returns the order and how many tokens were read."""
        self._encoder.load()
        pairs = []
        for pair in self._encoder.pairs(question, texts):
            pairs.append(pair)
            yield
        scores = np.zeros(len(pairs), dtype=np.float32)
        for indices in self._encoder.batches(pairs):
            scores[indices] = self._encoder.scores([pairs[index] for index in indices])
            yield
        values = tuple(map(float, scores))
        order = ModelOrder(order_by_scores(values), values, self.name, self._encoder.name)
        return order, sum(len(pair.ids) for pair in pairs)
