"""Compares rankings on labelled sets: `python -m tests.quality --data FOLDER [--cache FILE]`.

The folder holds the sets in the BEIR layout, one a folder; docs/quality.md names their origins.
"""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from embedder_svc.providers.embedded import embedded_provider
from tests.quality.embedded_set import embedded_set
from tests.quality.hit_rates import Interval, hits_at, mean_interval
from tests.quality.known_vectors import KnownVectors
from tests.quality.labelled_set import LabelledSet, read_set
from tests.quality.rankings import METHODS, filled_engine, rankings_of
from tests.quality.reranking_table import RESULT, rows

SETS = {
    "piaf": ("fr", 600),
    "cnil-faq": ("fr", 600),
    "covidfaq-fr": ("fr", 300),
    "covidfaq-en": ("en", 300),
}
"""Language, and the most questions that are sampled."""


async def measured(labelled: LabelledSet, known: KnownVectors) -> dict[str, Any]:
    """Returns hit@1 and hit@3 by method, and how far each is from RRF on the same questions."""
    embedded = await embedded_set(labelled, known)
    ranked: dict[str, list[list[str]]] = {method: [] for method in METHODS}
    async with filled_engine(embedded) as engine:
        for question, vector in zip(labelled.questions, embedded.questions, strict=True):
            rankings = await rankings_of(engine, embedded.space_id, question, vector)
            for method in METHODS:
                ranked[method].append(rankings[method])
    relevant = [question.relevant for question in labelled.questions]
    first = {method: hits_at(1, ranked[method], relevant) for method in METHODS}
    third = {method: hits_at(3, ranked[method], relevant) for method in METHODS}
    return {
        "documents": len(labelled.documents),
        "questions": len(labelled.questions),
        "methods": {
            method: {
                "hit@1": asdict(mean_interval(first[method])),
                "hit@3": asdict(mean_interval(third[method])),
                "hit@1 less RRF": asdict(mean_interval(first[method] - first["RRF"])),
                "hit@1 less dense": asdict(mean_interval(first[method] - first["dense"])),
            }
            for method in METHODS
        },
    }


async def main() -> None:
    """Measures each set, prints one table a set and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets")
    parser.add_argument("--cache", type=Path, default=Path("vectors.sqlite"))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    arguments = parser.parse_args()
    provider = embedded_provider()
    known = KnownVectors(arguments.cache, provider)
    results: dict[str, Any] = {}
    try:
        for name in arguments.sets:
            language, sample = SETS[name]
            labelled = read_set(arguments.data / name, language=language, sample=sample)
            results[name] = await measured(labelled, known)
            _print(name, results[name])
    finally:
        known.close()
        await provider.close()
    if set(results) == set(SETS):
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nFor docs/quality.md, from {RESULT.name}:\n")
        print("\n".join(rows(results)))


def _print(name: str, result: dict[str, Any]) -> None:
    print(f"\n{name}: {result['questions']} questions, {result['documents']} documents")
    for method, figures in result["methods"].items():
        shown = "  ".join(f"{figure} {_shown(values)}" for figure, values in figures.items())
        print(f"  {method:<22} {shown}")


def _shown(values: dict[str, float]) -> str:
    interval = Interval(**values)
    return f"{interval.value:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


if __name__ == "__main__":
    asyncio.run(main())
