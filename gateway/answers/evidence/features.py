"""What the candidates of a search say of how well they answer its question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from gateway.answers.checking.facts import analyzer
from gateway.questions import Hit
from text_analysis.language import detect_language
from text_analysis.sentences import sentences

BEST_COUNT = 4
"""Hits that an answer would mostly be written from."""
FEWEST_CANDIDATES = 8
"""Of fewer, neither how rare a term is nor how far one stands out can be told."""


@dataclass(frozen=True, slots=True)
class EvidenceFeatures:
    """Figures of one question; None where they mean nothing.

    `passage_share` and `sentence_share`, 0 to 1: of the weight of the question's terms, what the
    best of the first four passages, and the best of their sentences, hold; rare terms weigh more.
    `prominence`: standard deviations by which the most similar of the first four stands above the
    mean of all candidates. `similarity`: the greatest one of all in `space_id`, -1 to 1.
    """

    passage_share: float | None
    sentence_share: float | None
    prominence: float | None
    similarity: float | None
    space_id: str = ""


def features_of(question: str, hits: Sequence[Hit]) -> EvidenceFeatures:
    """Returns the figures of candidates, best first; time grows with the length of their texts."""
    space_id, similarities = _similarities(hits)
    prominence = None
    if len(similarities) >= FEWEST_CANDIDATES:
        prominence = _prominence(similarities)
    return EvidenceFeatures(
        *_shares(question, hits),
        prominence,
        max(similarities.values(), default=None),
        space_id,
    )


def _shares(question: str, hits: Sequence[Hit]) -> tuple[float | None, float | None]:
    language = detect_language(question)
    texts = [f"{hit.fused.document.title} {hit.fused.passage.text}" for hit in hits]
    if len(hits) < FEWEST_CANDIDATES or detect_language(" ".join(texts[:BEST_COUNT])) != language:
        return None, None
    terms_of = analyzer(language).terms
    asked = set(terms_of(question))
    if not asked:
        return None, None
    held = [asked & set(terms_of(text)) for text in texts]
    weights = _weights(asked, held)
    whole = sum(weights.values())

    def share(terms: Set[str]) -> float:
        return sum(weights[term] for term in asked & terms) / whole

    said = (
        set(terms_of(sentence))
        for hit in hits[:BEST_COUNT]
        for sentence in sentences(hit.fused.passage.text)
    )
    return max(map(share, held[:BEST_COUNT])), max(map(share, said), default=0.0)


def _weights(asked: Set[str], held: Sequence[Set[str]]) -> dict[str, float]:
    """Returns the inverse document frequency of each term among the candidates, as BM25 has it."""
    holding = Counter(term for terms in held for term in terms)
    return {
        term: math.log(1 + (len(held) - holding[term] + 0.5) / (holding[term] + 0.5))
        for term in asked
    }


def _similarities(hits: Sequence[Hit]) -> tuple[str, dict[int, float]]:
    """Returns the space that most hits have a cosine in, and these by their place.

    With windows a similarity is the mean of the cosine and that of the best window, as the ranking
    formula has it.
    """
    counts = Counter(
        score.space_id
        for hit in hits
        for score in hit.fused.space_scores
        if score.cosine is not None
    )
    if not counts:
        return "", {}
    space_id = counts.most_common(1)[0][0]
    found = {}
    for place, hit in enumerate(hits):
        for score in hit.fused.space_scores:
            if score.space_id == space_id and score.cosine is not None:
                window = score.best_window_cosine
                found[place] = score.cosine if window is None else (score.cosine + window) / 2
    return space_id, found


def _prominence(similarities: dict[int, float]) -> float | None:
    values = list(similarities.values())
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    first = [value for place, value in similarities.items() if place < BEST_COUNT]
    if not first or deviation < 1e-6:
        return None
    return (max(first) - mean) / deviation
