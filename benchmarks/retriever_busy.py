"""How long searches take while passages are taken in, against the same searches at rest.

One engine with passages in its graph answers hybrid questions one after the other, at rest, then
beside an ingest with 64 documents of ten passages on their way, in turns. The interpreter changes
threads after half a millisecond, as the retriever sets it.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from benchmarks.interleaving import Figures
from benchmarks.peers.justesse import WORKSPACE, search_request, upserts
from benchmarks.retriever_corpus import PASSAGES_PER_DOCUMENT
from benchmarks.search_corpus import Question, SearchCorpus, questions, search_corpus
from retriever_svc.documents import DocumentUpsert
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.workspaces import WorkspaceSettings

_SWITCH_INTERVAL_S = 0.0005
_TURNS, _AT_REST = 4, 250
_IN_FLIGHT = 64


def measure(quick: bool) -> Figures:
    """Returns percentiles in milliseconds and their ratios."""
    there, added = (2_000, 2_000) if quick else (20_000, 12_000)
    corpus = search_corpus(there + added)
    first = SearchCorpus(corpus.vectors[:there], corpus.texts[:there])
    later = upserts(corpus)[there // PASSAGES_PER_DOCUMENT :]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        with tempfile.TemporaryDirectory() as folder:
            engine = EmbeddedEngine(EmbeddedSettings(Path(folder) / "data"))
            try:
                run = _measured(engine, upserts(first), later, questions(there))
                at_rest, beside, ingest_s = uvloop.run(run)
            finally:
                engine.close()
    finally:
        sys.setswitchinterval(usual)
    rest_p99, beside_p99 = _percentile(at_rest, 99), _percentile(beside, 99)
    return {
        "at rest: p50, ms": _percentile(at_rest, 50),
        "at rest: p99, ms": rest_p99,
        "beside an ingest: p50, ms": _percentile(beside, 50),
        "beside an ingest: p99, ms": beside_p99,
        "beside an ingest: searches": float(len(beside)),
        "ingest beside searches, passages/s": added / ingest_s,
        "p50 beside an ingest / at rest": _percentile(beside, 50) / _percentile(at_rest, 50),
        "p99 beside an ingest / at rest": beside_p99 / rest_p99,
    }


async def _measured(
    engine: EmbeddedEngine,
    first: Sequence[DocumentUpsert],
    later: Sequence[DocumentUpsert],
    asked: Sequence[Question],
) -> tuple[list[float], list[float], float]:
    await engine.create_workspace(WORKSPACE, WorkspaceSettings())
    await _put(engine, first)
    await asyncio.to_thread(engine.wait_for_graphs)
    at_rest: list[float] = []
    beside: list[float] = []
    ingest_s = 0.0
    size = -(-len(later) // _TURNS)
    await _timed(engine, asked, 0)
    for turn in range(_TURNS):
        at_rest += [await _timed(engine, asked, turn * _AT_REST + n) for n in range(_AT_REST)]
        started = time.perf_counter()
        ingest = asyncio.create_task(_put(engine, later[turn * size : (turn + 1) * size]))
        while not ingest.done():
            beside.append(await _timed(engine, asked, len(beside)))
        ingest_s += time.perf_counter() - started
        await asyncio.to_thread(engine.wait_for_graphs)
    return at_rest, beside, ingest_s


async def _put(engine: EmbeddedEngine, documents: Sequence[DocumentUpsert]) -> None:
    waiting = asyncio.Semaphore(_IN_FLIGHT)

    async def put(document: DocumentUpsert) -> None:
        async with waiting:
            await engine.upsert_document(document)

    await asyncio.gather(*(put(document) for document in documents))


async def _timed(engine: EmbeddedEngine, asked: Sequence[Question], number: int) -> float:
    request = search_request(asked[number % len(asked)])
    started = time.perf_counter()
    await engine.search_passages(request)
    return time.perf_counter() - started


def _percentile(seconds: Sequence[float], percent: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1e3
