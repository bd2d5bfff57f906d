"""Embedding a workspace again pays for no text whose vector the embedder knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from chassis.channel import open_channel
from chassis.metrics import Metrics
from embedder_svc.service import running_embedder
from embedder_svc.settings import EmbedderSettings
from gateway.clients.embedder import EmbedderClient
from gateway.reembedding import ReembeddingEvent, ReembeddingOutcome, ReembeddingProgress
from tests.fakes.embedding_providers import ScriptedProvider
from tests.fakes.spaces_bench import open_bench

TEXTS = ("le quai nord", "un navire au large", "la grue du port", "les douanes", "une escale")


async def test_cached_vectors_are_reused_over_a_whole_re_embedding(tmp_path: Path) -> None:
    """A space that was dropped is filled again without a call, with no token on the receipt."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")
    settings = EmbedderSettings(port=0, drain_grace_s=0)
    async with (
        open_bench(tmp_path) as opened,
        running_embedder(settings, providers=[first, second], metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        bench = replace(opened, client=EmbedderClient(channel))
        await bench.take_in("a", *TEXTS)
        paid = await bench.reembed("second")
        calls = len(second.embedded)
        await bench.retriever.switch_space("w", first.space.id)
        await bench.retriever.drop_space("w", second.space.id)
        free = await bench.reembed("second")
        counts = await bench.counts()

    assert calls == 3
    assert len(second.embedded) == calls
    assert len(first.embedded) == 1
    assert _tokens(paid) > 0
    assert _tokens(free) == 0
    assert counts == {first.space.id: len(TEXTS), second.space.id: len(TEXTS)}
    for outcome in (paid[-1], free[-1]):
        assert isinstance(outcome, ReembeddingOutcome)
        assert outcome.switched


def _tokens(events: list[ReembeddingEvent]) -> int:
    return max(one.input_token_count for one in events if isinstance(one, ReembeddingProgress))
