"""Opens a retriever's data folder and prints, as JSON, how long that took and what it holds."""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import asyncio
import os
import sys
import time
from pathlib import Path

import orjson

from benchmarks.resident_memory import resident_bytes
from benchmarks.retriever_corpus import SPACE, vectors, word
from benchmarks.retriever_folder import WORKSPACE
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import QueryVariant, SearchRequest, SearchResult


def main() -> None:
    """Measures one start."""
    queries = vectors(20, seed=9)
    before = resident_bytes()
    started = time.perf_counter()
    engine = EmbeddedEngine(EmbeddedSettings(Path(sys.argv[1])))
    ready = time.perf_counter() - started
    figures = {"ready_s": ready, "process_s": _process_age_s()}
    try:
        slugs = [workspace.slug for workspace in asyncio.run(engine.list_workspaces())]
        if WORKSPACE in slugs:
            requests = [
                SearchRequest(
                    WORKSPACE, (QueryVariant(f"{word(n + 1)} {word(n + 8)}", vectors={SPACE: row}),)
                )
                for n, row in enumerate(queries)
            ]
            first = asyncio.run(_answer(engine, requests[:1]))[0]
            figures["first_answer_s"] = time.perf_counter() - started
            figures["first_exact"] = float(first.lists[0].exact)
            engine.wait_for_graphs()
            figures["graphs_s"] = time.perf_counter() - started
            results = asyncio.run(_answer(engine, requests))
            figures["exact_after"] = float(results[0].lists[0].exact)
        figures["resident_bytes"] = resident_bytes()
        figures["resident_before_bytes"] = before
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
        sys.stdout.flush()
    finally:
        engine.close()


async def _answer(engine: EmbeddedEngine, requests: list[SearchRequest]) -> list[SearchResult]:
    return [await engine.search_passages(request) for request in requests]


def _process_age_s() -> float:
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return uptime - ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
