"""What windows cost: the same hybrid searches and ingest, with and without three a passage.

Windows are not in the graph: they only give each fused candidate the cosine of its best window,
so a search reads them for the 20 hits it returns. Two engines in one process, rounds in turn; the
time is that of the search itself. Window vectors are those of their passages with some noise.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.interleaving import Figures, Round, interleaved, time_ratios
from benchmarks.peers.justesse import Justesse, upserts
from benchmarks.retriever_corpus import WIDTH
from benchmarks.search_corpus import Question, questions, search_corpus
from retriever_svc.documents import DocumentUpsert

_WINDOWS = 3
_SIZE = 50


def measure(quick: bool) -> Figures:
    """Returns ratios of time and of passages a second."""
    count = 2_000 if quick else 20_000
    without = upserts(search_corpus(count))
    asked = questions(count)
    seconds: dict[str, float] = {}
    with ExitStack() as stack:
        systems: dict[str, Callable[[], Round]] = {}
        for name, documents in {
            "without": without,
            "with": [_windowed(document) for document in without],
        }.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data"
            engine = Justesse(folder)
            stack.callback(engine.close)
            engine.create()
            started = time.process_time()
            engine.put(documents)
            engine.engine.wait_for_graphs()
            seconds[name] = time.process_time() - started
            systems[name] = _rounds(engine, asked)
        timings = interleaved(systems, 3 if quick else 19)
    return {
        "without windows: p50, ms": timings["without"].median_ms,
        "with windows: p50, ms": timings["with"].median_ms,
        **time_ratios("search with windows / without", timings["with"], timings["without"]),
        "ingest CPU with windows / without": seconds["with"] / seconds["without"],
    }


def _rounds(engine: Justesse, asked: list[Question]) -> Callable[[], Round]:
    remaining = iter(range(0, len(asked), _SIZE))

    def run() -> Round:
        first = next(remaining)
        seconds = [engine.search(question).core_s for question in asked[first : first + _SIZE]]
        return Round([one for one in seconds if one is not None], 0.0)

    return run


def _windowed(document: DocumentUpsert) -> DocumentUpsert:
    given = document.vectors[0]
    rows = np.repeat(given.vectors, _WINDOWS, axis=0)
    chance = np.random.default_rng(int(document.document.external_id))
    noise = chance.standard_normal(rows.shape).astype(np.float32) / WIDTH**0.5
    counts = np.full(len(given.vectors), _WINDOWS, np.int64)
    return replace(
        document,
        vectors=(replace(given, window_counts=counts, window_vectors=rows + 0.3 * noise),),
    )
