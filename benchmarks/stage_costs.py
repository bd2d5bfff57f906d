"""What each stage of a whole search costs with the built-in embedding model.

One caller, one search at a time, kinds of searches interleaved: a new query; one whose vector the
gateway knows; one that an entry of the glossary matches, so that the rewriter is called, its
vectors known as well; and one without the reranker. Times of stages are those of the receipt. The
base is a few pages of the demo, the questions are labelled ones of it.
"""

import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.interleaving import Figures, spread
from justesse.cli.addresses import MeshAddresses
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.client import GlossaryEntry, Justesse

WORKSPACE = "bench"
DEMO = Path(__file__).resolve().parents[1] / "demo"
DOCUMENTS = 8
CALLS_A_ROUND = 10
ENTRY = GlossaryEntry("BL", ["bon de livraison"])
RERANKING = "rag_reranking_enabled"
NEW, CACHED = "new query", "query vector cached"
GLOSSARY, UNRANKED = "glossary entry, vectors cached", "no reranking, query vector cached"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of search, with the switch of reranking as it wants it."""

    queries: Iterator[str]
    reranking: bool = True


@dataclass(frozen=True, slots=True)
class Round:
    """Median milliseconds of a round, of whole searches and by stage."""

    whole: float
    stages: Mapping[str, float]


def measure(quick: bool) -> Figures:
    """Returns milliseconds by stage and kind of search, and ratios between them."""
    with tempfile.TemporaryDirectory() as folder:
        plan = MeshPlan(
            data_folder=Path(folder),
            log_folder=Path(folder) / "logs",
            address_file=Path(folder) / "address.json",
            environment={
                "JUSTESSE_EMBEDDER_PROVIDERS": "embedded",
                # Windows follow an upload in the background, which would be measured as well.
                "JUSTESSE_INGESTION_WINDOWS": "off",
            },
            free_ports=True,
        )

        async def work(addresses: MeshAddresses) -> Figures:
            return await asyncio.to_thread(_measure_running, addresses, 2 if quick else 13)

        return run_mesh(plan, work, lambda _event: None, lambda: None)


def _measure_running(addresses: MeshAddresses, rounds: int) -> Figures:
    with Justesse(addresses.address) as mesh:
        _fill(mesh)
        questions = _questions()
        known = questions[:CALLS_A_ROUND]
        numbers = itertools.count()
        kinds = {
            NEW: Kind(f"{question} ({next(numbers)})" for question in itertools.cycle(questions)),
            CACHED: Kind(itertools.cycle(known)),
            GLOSSARY: Kind(itertools.cycle([f"{question} BL" for question in known])),
            UNRANKED: Kind(itertools.cycle(known), reranking=False),
        }
        done: dict[str, list[Round]] = {name: [] for name in kinds}
        for number in range(rounds + 1):
            for name, kind in kinds.items():
                mesh.set_switch(RERANKING, str(kind.reranking).lower())
                finished = _round(mesh, kind.queries)
                if number:  # the first round warms up
                    done[name].append(finished)
    return _figures(done)


def _fill(mesh: Justesse) -> None:
    mesh.create_workspace(WORKSPACE)
    mesh.put_glossary_entries(WORKSPACE, [ENTRY])
    pages = sorted((DEMO / "documents").rglob("*.md"), key=lambda page: page.stat().st_size)
    for page in pages[:DOCUMENTS]:
        mesh.ingest(WORKSPACE, page.read_bytes(), file_name=page.name, timeout=300)


def _questions() -> Sequence[str]:
    lines = (DEMO / "labelled_questions.jsonl").read_text().splitlines()
    return [question for line in lines if "BL" not in (question := json.loads(line)["question"])]


def _round(mesh: Justesse, queries: Iterator[str]) -> Round:
    whole: list[float] = []
    stages: dict[str, list[float]] = {}
    for _ in range(CALLS_A_ROUND):
        started = time.perf_counter()
        result = mesh.search(WORKSPACE, next(queries))
        whole.append((time.perf_counter() - started) * 1e3)
        for report in result.receipt.stages:
            stages.setdefault(report.stage, []).append(report.latency_ms)
    return Round(
        statistics.median(whole), {name: statistics.median(each) for name, each in stages.items()}
    )


def _figures(done: Mapping[str, Sequence[Round]]) -> Figures:
    figures: Figures = {}
    for name, rounds in done.items():
        figures[f"{name}: whole search, ms"] = statistics.median(each.whole for each in rounds)
        for stage in rounds[0].stages:
            figures[f"{name}: {stage}, ms"] = statistics.median(
                each.stages[stage] for each in rounds
            )
    return (
        figures
        | spread(
            "new query: share of the embedder",
            [each.stages["embed"] / each.whole for each in done[NEW]],
        )
        | _whole_ratios("new query / query vector cached", done[NEW], done[CACHED])
        | _whole_ratios("reranking by the formula / no reranking", done[CACHED], done[UNRANKED])
        | _whole_ratios("rewriter called / resting", done[GLOSSARY], done[CACHED])
    )


def _whole_ratios(label: str, some: Sequence[Round], others: Sequence[Round]) -> Figures:
    return spread(
        f"{label}, time of the whole search",
        [one.whole / other.whole for one, other in zip(some, others, strict=True)],
    )
