"""How well evidence tells answered questions: `python -m tests.quality.evidence --data FOLDER`.

Public questions whose documents are found among the first four, and the same questions once these
documents are taken out of what is found; then the demo's sixty questions, and public ones that the
demo's documents have nothing to do with, through a real mesh. Prints the weights that a logistic
regression finds for the public ones (those of gateway/answers/evidence/decision.py), and what the
decision of the mesh keeps and refuses; docs/quality/evidence.json holds that.
"""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedder_svc.providers.embedded import embedded_provider
from gateway.answers.evidence.decision import Strictness, decide
from gateway.answers.evidence.features import features_of
from gateway.questions import Hit
from tests.quality.demo_answers import asked_of_demo
from tests.quality.embedded_set import embedded_set
from tests.quality.evidence_table import RESULT, rows
from tests.quality.found_hits import found_hits
from tests.quality.known_vectors import KnownVectors
from tests.quality.labelled_set import read_set
from tests.quality.rankings import filled_engine

SETS = {
    "piaf": ("fr", 250),
    "cnil-faq": ("fr", 168),
    "covidfaq-fr": ("fr", 200),
    "covidfaq-en": ("en", 200),
}
"""Language, and the most questions that are sampled."""
FIRST = 4
FOREIGN_SETS = ("piaf", "covidfaq-fr")
FOREIGN_COUNT = 60

Judged = list[tuple[str, list[Hit], bool]]
"""Questions, their candidates, best first, and whether these hold an answer."""


async def judged(name: str, data: Path, known: KnownVectors) -> Judged:
    """Returns each question with its answer, where it was found, and without."""
    language, sample = SETS[name]
    labelled = read_set(data / name, language=language, sample=sample)
    embedded = await embedded_set(labelled, known)
    found: Judged = []
    async with filled_engine(embedded) as engine:
        for question, vector in zip(labelled.questions, embedded.questions, strict=True):
            hits = await found_hits(engine, embedded.space_id, question.text, vector)
            others = [
                hit for hit in hits if hit.fused.document.external_id not in question.relevant
            ]
            if any(hit.fused.document.external_id in question.relevant for hit in hits[:FIRST]):
                found.append((question.text, hits, True))
            found.append((question.text, others, False))
    return found


def fitted(questions: Judged) -> NDArray[np.float64]:
    """Returns the weights of passage share, sentence share and prominence, and the intercept."""
    figures, answered = [], []
    for text, hits, is_answered in questions:
        features = features_of(text, hits)
        row = (features.passage_share, features.sentence_share, features.prominence)
        if None not in row:
            figures.append(row)
            answered.append(float(is_answered))
    values = np.array(figures, dtype=np.float64)
    mean, deviation = values.mean(0), values.std(0)
    scaled = np.column_stack([(values - mean) / deviation, np.ones(len(values))])
    weights = np.zeros(4)
    for _ in range(3_000):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        weights -= 0.1 * scaled.T @ (chance - np.array(answered)) / len(values)
    slopes = weights[:3] / deviation
    return np.append(slopes, weights[3] - slopes @ mean)


def shares(decided: Sequence[tuple[bool, bool]]) -> dict[str, float]:
    """Returns how many there are, and of what share it was decided so.

    Each is whether there is an answer, and whether it was given.
    """
    kept = [given for is_answered, given in decided if is_answered]
    left = [given for is_answered, given in decided if not is_answered]
    return {
        "answered": len(kept),
        "kept": sum(kept) / len(kept) if kept else float("nan"),
        "unanswered": len(left),
        "refused": 1 - sum(left) / len(left) if left else float("nan"),
    }


def rates(questions: Judged, strictness: Strictness) -> dict[str, float]:
    """Returns the shares of a set by the decision alone."""
    return shares(
        [(answered, decide(text, hits, strictness).is_enough) for text, hits, answered in questions]
    )


async def public(data: Path, cache: Path) -> dict[str, Judged]:
    """Returns the public questions by set."""
    provider = embedded_provider()
    known = KnownVectors(cache, provider)
    try:
        return {name: await judged(name, data, known) for name in SETS}
    finally:
        known.close()
        await provider.close()


def main() -> None:
    """Measures everything, prints the rows of the page and keeps the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.evidence", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--cache", type=Path, default=Path("vectors.sqlite"))
    arguments = parser.parse_args()
    sets = asyncio.run(public(arguments.data, arguments.cache))
    foreign = [text for name in FOREIGN_SETS for text, _, _ in sets[name][:FOREIGN_COUNT]]
    print("weights:", np.round(fitted([each for found in sets.values() for each in found]), 3))
    results: dict[str, dict[str, dict[str, float]]] = {}
    for strictness in (Strictness.BALANCED, Strictness.STRICT):
        asked = asked_of_demo(strictness, foreign)
        results[strictness.value] = {
            **{name: rates(found, strictness) for name, found in sets.items()},
            **{name: shares(answers) for name, answers in asked.items()},
        }
    RESULT.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print("\n".join(rows(results)))


if __name__ == "__main__":
    main()
