"""Hybrid search in process, ingest and memory, against systems that can be embedded as well.

Every system takes the same passages in once, in batches of 640, and then answers the same
questions: 20 hits with their texts, from 50 candidates a list, HNSW with M 16, efConstruction 100,
efSearch 128, fused with k = 60 (Chroma searches vectors alone). The first answer belongs to
the ingest, for some build their indexes with it. Rounds of 50 questions go round among the
processes. "core" is the search as the search thread runs it; "call" has the way to that
thread and back as well. Agreement is the share of the exact hits that were found.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.exact_search import ExactSearch, agreement
from benchmarks.interleaving import Figures, Timing, interleaved, speed_ratios, time_ratios
from benchmarks.peer_process import PeerProcess, installed
from benchmarks.peers.peer import LIMIT
from benchmarks.search_corpus import QUERY_COUNT, Question, questions, search_corpus

SIZE = 50
_JUDGED = 200
_OURS = "justesse"
TENTH = "justesse_tenth"
"""The same engine with a tenth of the passages."""
_PEERS = ("qdrant_edge", "chroma", "lance", "milvus_lite")


@dataclass(frozen=True, slots=True)
class Measured:
    """Holds what one system did."""

    count: int
    timing: Timing
    agreement: float
    ingest_s: float
    ingest_cpu_s: float
    held_bytes: int
    reopened_bytes: int


def measure(quick: bool) -> Figures:
    """Compares with all peers, over 20,000 passages."""
    return compared(2_000 if quick else 20_000, _PEERS, 2 if quick else 19)


def measure_large(quick: bool) -> Figures:
    """Compares with qdrant-edge, int8 graphs and a tenth of the passages, over 100,000."""
    peers = ("qdrant_edge", "justesse_int8", TENTH)
    return compared(10_000 if quick else 100_000, peers, 2 if quick else 19)


def compared(count: int, peers: tuple[str, ...], rounds: int) -> Figures:
    """Returns what each system does and ratios of ours to it; None where it is not installed."""
    asked = questions(count, QUERY_COUNT)
    counts = {name: count // 10 if name == TENTH else count for name in (_OURS, *peers)}
    with ExitStack() as stack:
        systems = {
            name: stack.enter_context(PeerProcess(name, asked))
            for name in (_OURS, *peers)
            if installed(name)
        }
        ingested = {name: system.ask("ingest", counts[name]) for name, system in systems.items()}
        answers = {name: system.ask("answers", _JUDGED) for name, system in systems.items()}
        for system in systems.values():
            system.reopen()
            system.ask("answers", _JUDGED)
        reopened = {name: system.ask("held") for name, system in systems.items()}
        timings = interleaved(
            {name: system.rounds(SIZE) for name, system in systems.items()}, rounds
        )
    shares = _agreements({name: counts[name] for name in systems}, asked[:_JUDGED], answers)
    measured = {
        name: Measured(
            counts[name],
            timings[name],
            shares[name],
            ingested[name]["seconds"],
            ingested[name]["cpu_s"],
            ingested[name]["held_bytes"],
            reopened[name]["held_bytes"],
        )
        for name in systems
    }
    figures: Figures = {}
    for name in (_OURS, *peers):
        figures |= _figures(name, measured.get(name))
    for name in peers:
        figures |= _ratios(name, measured[_OURS], measured.get(name))
    return figures


def _agreements(
    counts: Mapping[str, int],
    asked: Sequence[Question],
    answers: Mapping[str, Mapping[str, Any]],
) -> dict[str, float]:
    shares = {}
    for count in set(counts.values()):
        exact = ExactSearch(search_corpus(count))
        hybrid = [exact.hybrid(question) for question in asked]
        dense = [exact.dense(question, LIMIT) for question in asked]
        for name in (name for name, size in counts.items() if size == count):
            answer = answers[name]
            shares[name] = agreement(answer["ids"], hybrid if answer["hybrid"] else dense)
    return shares


def _figures(name: str, system: Measured | None) -> Figures:
    names = (
        "queries/s",
        "p50, ms",
        "p95, ms",
        "CPU a query, ms",
        "agreement",
        "ingest, passages/s",
        "ingest, CPU ms a passage",
        "memory after ingest, MB",
        "memory when opened again, MB",
    )
    if system is None:
        return {f"{name}: {figure}": None for figure in names}
    timing = system.timing
    values = (
        timing.queries_per_second,
        timing.median_ms,
        timing.percentile_ms(95),
        timing.cpu_ms,
        system.agreement,
        system.count / system.ingest_s,
        system.ingest_cpu_s / system.count * 1e3,
        system.held_bytes / 1e6,
        system.reopened_bytes / 1e6,
    )
    figures: Figures = {
        f"{name}: {figure}": value for figure, value in zip(names, values, strict=True)
    }
    if name == _OURS:
        figures["core: p50, ms"] = timing.core.median_ms
        figures["core: p95, ms"] = timing.core.percentile_ms(95)
    return figures


def _ratios(name: str, ours: Measured, other: Measured | None) -> Figures:
    labels = (
        f"core queries/s / {name}",
        f"call queries/s / {name}",
        f"CPU a query / {name}",
        f"ingest speed / {name}",
        f"ingest CPU / {name}",
        f"memory / {name}",
        f"memory when opened again / {name}",
    )
    if other is None:
        return dict.fromkeys(labels)
    core, call, cpu, ingest, ingest_cpu, memory, reopened = labels
    return {
        **speed_ratios(core, ours.timing.core, other.timing),
        **(
            time_ratios("core time, large / tenth", ours.timing.core, other.timing.core)
            if name == TENTH
            else {}
        ),
        **speed_ratios(call, ours.timing, other.timing),
        cpu: ours.timing.cpu_ms / other.timing.cpu_ms,
        ingest: other.ingest_s / other.count * ours.count / ours.ingest_s,
        ingest_cpu: ours.ingest_cpu_s / ours.count / other.ingest_cpu_s * other.count,
        memory: ours.held_bytes / other.held_bytes,
        reopened: ours.reopened_bytes / other.reopened_bytes,
    }
