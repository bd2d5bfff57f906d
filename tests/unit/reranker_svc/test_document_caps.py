"""What a rerank endpoint teaches about the size of requests, and for how long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chassis.vendor_errors import VendorRefused
from reranker_svc.bill import Bill
from reranker_svc.endpoints.document_caps import DocumentCaps, LearntCaps
from reranker_svc.passage_model import Passage
from tests.fakes.clock import FakeClock
from tests.fakes.json_server import RefusedError
from tests.fakes.rerank_endpoints import PASSAGES, QUESTION, model_of, soon
from tests.fakes.vendors.rerank_servers import InfinityServer, TeiServer, VllmServer

LONG = tuple(Passage("", f"{'gaz ' * (at == 2)}{'mot ' * 150}{at}") for at in range(4))


class PairServer(VllmServer):
    """Counts question and document together, as cross-encoders do."""

    pair_characters = 900

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Refuses a pair that is too long."""
        if len(body["query"]) + max(map(len, body["documents"])) > self.pair_characters:
            raise self.too_long()
        return super().answer(path, body)


async def test_a_long_question_does_not_shorten_the_passages_of_others() -> None:
    """The pair was too long; with a short question the same passages are read whole."""
    server = PairServer()
    async with model_of(server, "vllm") as model:
        await model.order("gaz " * 120, LONG, soon(), Bill())
        assert max(len(text) for text in server.documents[-1]) < 420
        server.bodies.clear()
        await model.order(QUESTION, LONG, soon(), Bill())

    assert server.documents == [[passage.text for passage in LONG]]


async def test_a_question_that_is_too_long_by_itself_teaches_nothing() -> None:
    """It falls to the next implementation; the breaker stays closed and the caps as they were."""
    server = PairServer()
    async with model_of(server, "vllm") as model:
        with pytest.raises(VendorRefused):
            await model.order("gaz " * 2000, LONG, soon(), Bill())
        server.bodies.clear()
        answer = await model.order(QUESTION, LONG, soon(), Bill())

    assert answer.order[0] == 2
    assert server.documents == [[passage.text for passage in LONG]]


async def test_a_long_passage_does_not_teach_a_smaller_batch() -> None:
    """Halving was of no use; what helped was to cut."""
    server = VllmServer(max_characters=900)
    async with model_of(server, "vllm") as model:
        await model.order(QUESTION, [*PASSAGES, Passage("", "x" * 3000)], soon(), Bill())
        assert server.documents.count(["Bonjour."]) == 1, "that it is alive is asked once"
        server.bodies.clear()
        await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert len(server.bodies) == 1


async def test_two_calls_that_learn_at_once_learn_the_same() -> None:
    """Each on caps of its own; afterwards every request fits."""
    server = TeiServer(max_documents=4)
    passages = [Passage("", f"passage {at}") for at in range(16)]
    async with model_of(server, "tei") as model:
        await asyncio.gather(*(model.order(QUESTION, passages, soon(), Bill()) for _ in range(2)))
        server.bodies.clear()
        await model.order(QUESTION, passages, soon(), Bill())

    assert [len(documents) for documents in server.documents] == [4] * 4


async def test_an_endpoint_that_refuses_everything_is_found_out_at_once() -> None:
    """A harmless request tells, before ten passages are sent one by one and cut."""
    server = InfinityServer(failures=[RefusedError(400, {"error": "no such model"})] * 99)
    async with model_of(server, "infinity") as model:
        with pytest.raises(VendorRefused):
            await model.order(QUESTION, LONG * 3, soon(), Bill())

    assert len(server.bodies) == 2


async def test_what_was_learnt_is_forgotten_after_a_while() -> None:
    """One strange passage, or an endpoint before it was set up anew, does not count for ever."""
    clock = FakeClock()
    caps = LearntCaps(DocumentCaps(32, 8000), clock)
    caps.learn(DocumentCaps(8, 8000))
    caps.learn(DocumentCaps(16, 8000))
    assert caps.on_trial() == DocumentCaps(8, 8000)
    caps.learn(DocumentCaps(1, 8000, pair_characters=500))
    assert caps.on_trial() == DocumentCaps(8, 8000, pair_characters=500)

    await clock.advance(601.0)
    assert caps.on_trial() == DocumentCaps(32, 8000)


def test_caps_on_trial_bind_nobody_else() -> None:
    """A call that fails in the end has lowered its own alone."""
    caps = LearntCaps(DocumentCaps(32, 8000))
    caps.on_trial().lower("gaz", ["a", "b"])

    assert caps.on_trial() == DocumentCaps(32, 8000)
