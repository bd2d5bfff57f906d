"""Measures what a second wording brings: `python -m tests.quality.rewriting --data FOLDER`.

Compares ways to search with the question and with other words: both or one of them, in the dense
or the BM25 list or both, at several weights. The other words are those that the rules leave of the
question, or, as a stand-in for a good rewriter, another question with the same answer.
"""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.embedded import embedded_provider
from gateway.ingestion.chunking.embedded_text import embedded_text
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.searches import QueryVariant, SearchMode, SearchRequest
from rewriter_svc.keywords import keywords_of
from tests.quality.embedded_set import EmbeddedSet
from tests.quality.hit_rates import hits_at, mean_interval
from tests.quality.known_vectors import KnownVectors
from tests.quality.labelled_set import LabelledSet, read_set
from tests.quality.rankings import (
    CANDIDATES,
    WORKSPACE,
    candidate_of,
    filled_engine,
    ids_by_formula,
    ids_of,
)

SETS = {"piaf": ("fr", 600), "cnil-faq": ("fr", 600), "covidfaq-fr": ("fr", 300)}
SETS |= {"covidfaq-en": ("en", 300)}
RESULTS = Path(__file__).parents[2] / "docs" / "quality"

Orders = Mapping[str, list[str]]
"""Document ids in fused order, and as the formula reranks them."""

FIGURES = (("fused", 1), ("fused", 3), ("fused", 20), ("reranked", 1), ("reranked", 3))


@dataclass(frozen=True, slots=True)
class Way:
    """Weights of the lists: dense and BM25 of the question, dense and BM25 of its words."""

    dense: float = 1.0
    lexical: float = 1.0
    words_dense: float = 0.0
    words_lexical: float = 0.0


WAYS: Mapping[str, Way] = {
    "question": Way(),
    "words instead": Way(0, 0, 1, 1),
    "words instead, dense": Way(0, 1, 1, 0),
    "words instead, BM25": Way(1, 0, 0, 1),
    "both": Way(1, 1, 1, 1),
    "both, words 0.5": Way(1, 1, 0.5, 0.5),
    "both, words 0.25": Way(1, 1, 0.25, 0.25),
    "words beside, dense": Way(1, 1, 1, 0),
    "words beside, dense 0.5": Way(1, 1, 0.5, 0),
    "words beside, BM25": Way(1, 1, 0, 1),
    "words beside, BM25 0.5": Way(1, 1, 0, 0.5),
}


def keywords(labelled: LabelledSet) -> list[str]:
    """Returns what the rules leave of each question, the question where that is nothing."""
    return [
        keywords_of(question.text, labelled.language) or question.text
        for question in labelled.questions
    ]


def paraphrases(labelled: LabelledSet) -> list[str]:
    """Returns for each question the next one with equal labels, itself where it is the only one."""
    groups: dict[frozenset[str], list[str]] = defaultdict(list)
    for question in labelled.questions:
        groups[question.relevant].append(question.text)
    return [
        (group := groups[question.relevant])[(group.index(question.text) + 1) % len(group)]
        for question in labelled.questions
    ]


WORDINGS = {"keywords": keywords, "paraphrases": paraphrases}


async def measured(
    labelled: LabelledSet, words: Sequence[str], known: KnownVectors
) -> dict[str, Any]:
    """Returns hits of each order by way, and how far they are from the question alone."""
    passages = [
        embedded_text((document.title,) if document.title else (), document.text)
        for document in labelled.documents
    ]
    texts = [question.text for question in labelled.questions]
    embedded = EmbeddedSet(
        labelled,
        known.space_id,
        await known.of(passages, EmbeddingPurpose.DOCUMENT),
        (0,) * len(passages),
        np.zeros((0, 384), dtype=np.float32),
        await known.of(texts, EmbeddingPurpose.QUERY),
    )
    words_vectors = await known.of(words, EmbeddingPurpose.QUERY)
    ranked: dict[str, list[Orders]] = {way: [] for way in WAYS}
    async with filled_engine(embedded) as engine:
        for at, text in enumerate(texts):
            vectors = {known.space_id: embedded.questions[at]}
            words_vector = {known.space_id: words_vectors[at]}
            for name, way in WAYS.items():
                variants = _variants(way, text, words[at], vectors, words_vector)
                ranked[name].append(await _orders(engine, variants))
    relevant = [question.relevant for question in labelled.questions]
    figures: dict[str, Any] = {}
    for name in WAYS:
        figures[name] = {}
        for order, depth in FIGURES:
            hits = hits_at(depth, [each[order] for each in ranked[name]], relevant)
            first = hits_at(depth, [each[order] for each in ranked["question"]], relevant)
            figures[name][f"{order} hit@{depth}"] = {
                "value": float(hits.mean()),
                "less question": asdict(mean_interval(hits - first)),
            }
    return {"questions": len(texts), "documents": len(passages), "ways": figures}


def _variants(
    way: Way,
    question: str,
    words: str,
    vectors: Mapping[str, NDArray[np.float32]],
    words_vectors: Mapping[str, NDArray[np.float32]],
) -> tuple[QueryVariant, ...]:
    # The first one, against which candidates are scored, is always the question.
    return (
        QueryVariant(question, way.dense, vectors, way.lexical),
        QueryVariant(words, way.words_dense, words_vectors, way.words_lexical),
    )


async def _orders(engine: EmbeddedEngine, variants: tuple[QueryVariant, ...]) -> Orders:
    request = SearchRequest(WORKSPACE, variants, SearchMode.HYBRID, candidate_count=CANDIDATES)
    hits = (await engine.search_passages(request)).hits
    return {"fused": ids_of(hits), "reranked": ids_by_formula([candidate_of(hit) for hit in hits])}


async def main() -> None:
    """Measures each set, prints one table a set and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.rewriting", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets")
    parser.add_argument("--cache", type=Path, default=Path("vectors.sqlite"))
    parser.add_argument("--words", choices=list(WORDINGS), default="keywords")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    arguments = parser.parse_args()
    provider = embedded_provider()
    known = KnownVectors(arguments.cache, provider)
    results: dict[str, Any] = {}
    try:
        for name in arguments.sets:
            language, sample = SETS[name]
            labelled = read_set(arguments.data / name, language=language, sample=sample)
            words = WORDINGS[arguments.words](labelled)
            results[name] = await measured(labelled, words, known)
            _print(name, results[name])
    finally:
        known.close()
        await provider.close()
    if set(results) == set(SETS):
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{arguments.words}.json").write_text(json.dumps(results, indent=2) + "\n")


def _print(name: str, result: dict[str, Any]) -> None:
    print(f"\n{name}: {result['questions']} questions, {result['documents']} documents", flush=True)
    for way, figures in result["ways"].items():
        shown = "  ".join(
            f"{name} {figure['value']:.3f} {_shown(figure['less question'])}"
            for name, figure in figures.items()
        )
        print(f"  {way:<24} {shown}", flush=True)


def _shown(values: Mapping[str, float]) -> str:
    return f"{values['value']:+.3f} [{values['low']:+.3f}, {values['high']:+.3f}]"


if __name__ == "__main__":
    asyncio.run(main())
