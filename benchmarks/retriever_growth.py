"""How the costs of the embedded engine grow with its passages, as ratios to the smallest size."""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retriever_corpus import SPACE, texts, vectors
from benchmarks.retriever_folder import WORKSPACE, FilledFolder, filled_folder, opened_elsewhere
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import QueryVariant, SearchRequest

SIZES = (10_000, 30_000, 100_000)
_QUICK_SIZES = (1_000, 3_000, 10_000)
_ROUNDS, _QUICK_ROUNDS = 7, 3
_STARTS, _QUICK_STARTS = 3, 1
_QUERIES = 200
_WORDS = 5

MEASURES = (
    "hybrid query, ms",
    "hybrid query, slowest 5 %, ms",
    "hybrid query, CPU ms",
    "memory of the process, MB",
    "disk, MB",
    "ingest until searchable, passages/s",
    "ingest until the graphs are there, passages/s",
    "ready after a restart, s",
)


def measure(quick: bool) -> dict[str, float]:
    """Returns each measure at each size, and its ratio to that at the smallest."""
    sizes = _QUICK_SIZES if quick else SIZES
    folders = {size: filled_folder(size) for size in sizes}
    costs = {
        size: _costs_at_rest(size, folder, _QUICK_STARTS if quick else _STARTS)
        for size, folder in folders.items()
    }
    for size, found in _queries(folders, _QUICK_ROUNDS if quick else _ROUNDS).items():
        costs[size] |= found
    figures = {}
    for name in MEASURES:
        for size in sizes:
            figures[figure(size, name)] = costs[size][name]
        for size in sizes[1:]:
            figures[ratio(size, sizes[0], name)] = costs[size][name] / costs[sizes[0]][name]
    return figures


def figure(size: int, name: str) -> str:
    """Returns the name of the figure that says what a measure is at a size."""
    return f"{size:,}: {name}"


def ratio(size: int, smallest: int, name: str) -> str:
    """Returns the name of the figure that compares a measure at two sizes."""
    return f"{size:,} / {smallest:,}: {name}"


def _costs_at_rest(size: int, folder: FilledFolder, starts: int) -> dict[str, float]:
    opened = [opened_elsewhere(folder.path) for _ in range(starts)]
    return {
        "memory of the process, MB": _median(opened, "resident_bytes") / 1e6,
        "disk, MB": sum(one.stat().st_size for one in _files(folder.path)) / 1e6,
        "ingest until searchable, passages/s": size / folder.acknowledged_s,
        "ingest until the graphs are there, passages/s": size / folder.graphs_s,
        "ready after a restart, s": _median(opened, "ready_s"),
    }


@dataclass(frozen=True, slots=True)
class _Round:
    times_ms: Sequence[float]
    cpu_ms: float


def _queries(folders: Mapping[int, FilledFolder], rounds: int) -> dict[int, dict[str, float]]:
    """Asks every size in each round, so that a busy neighbour slows all of them alike."""
    requests = _requests()
    found: dict[int, list[_Round]] = defaultdict(list)
    with ExitStack() as stack:
        engines = {
            size: stack.enter_context(closing(EmbeddedEngine(EmbeddedSettings(folder.path))))
            for size, folder in folders.items()
        }
        for engine in engines.values():
            engine.wait_for_graphs()
            asyncio.run(_asked(engine, requests))
        for _ in range(rounds):
            for size, engine in engines.items():
                found[size].append(asyncio.run(_asked(engine, requests)))
    return {
        size: {
            "hybrid query, ms": statistics.median(
                statistics.median(one.times_ms) for one in measured
            ),
            "hybrid query, slowest 5 %, ms": statistics.median(
                statistics.quantiles(one.times_ms, n=20)[-1] for one in measured
            ),
            "hybrid query, CPU ms": statistics.median(one.cpu_ms for one in measured),
        }
        for size, measured in found.items()
    }


def _requests() -> list[SearchRequest]:
    words = [" ".join(text.split()[:_WORDS]) for text in texts(_QUERIES)]
    return [
        SearchRequest(WORKSPACE, (QueryVariant(text, vectors={SPACE: row}),))
        for text, row in zip(words, vectors(_QUERIES, seed=9), strict=True)
    ]


async def _asked(engine: EmbeddedEngine, requests: Sequence[SearchRequest]) -> _Round:
    times = []
    cpu = time.process_time()
    for request in requests:
        started = time.perf_counter()
        await engine.search_passages(request)
        times.append((time.perf_counter() - started) * 1e3)
    return _Round(times, (time.process_time() - cpu) * 1e3 / len(requests))


def _median(opened: Sequence[Mapping[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in opened)


def _files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and one.name != "reserve"]
