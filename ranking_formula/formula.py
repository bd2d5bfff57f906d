"""Orders candidates by a convex combination of their dense and lexical scores.

`score = w * d + (1 - w) * b`, after Bruch, Gai and Ingber, "An Analysis of Fusion Functions for
Hybrid Retrieval", ACM Transactions on Information Systems 42 (2023), with

- d: mean of the cosine and the best-window cosine, the cosine alone where there is no window,
  scaled so that the smallest of the space's candidates gets 0 and the largest 1; 1 for all where
  they are equal, which includes a single candidate;
- b: BM25 score over the best BM25 score of all candidates; 0 for a candidate without one.

Where no candidate has a BM25 score above 0, the score is d; where none has a cosine, it is b.

Cosines of two spaces are never compared. Each candidate is ordered within one space, the one that
most candidates have a cosine in. The lists are merged by rank: the r-th best of a space takes the
r-th of the places that the space's candidates held in the fused order. A candidate without a
cosine, while others have one, keeps its fused place; so a few strays of a second space, or
passages that wait for their vectors, neither lead every answer nor sink to its end.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ranking_formula.placement import placed
from ranking_formula.ranking import FormulaParts, RankedPassage, ScoredCandidate, Similarity


def rank_by_formula(
    candidates: Sequence[ScoredCandidate], *, similarity_weight: float, include_parts: bool = False
) -> tuple[RankedPassage, ...]:
    """Returns every candidate once, best first; ties keep the fused order.

    `similarity_weight` is w, 0 to 1. Scores are 0 to 1 and compare within one space only; None
    means that the candidate kept its place. All are None where nothing could be scored. With
    `include_parts`, every score comes with what it is made of.
    """
    lexical = _lexical_shares(candidates)
    spaces = _one_space_each(candidates)
    dense: dict[int, float] = {}
    if spaces:
        groups = _grouped(spaces)
        for space_id, members in groups.items():
            dense |= _dense_shares(candidates, space_id, members)
        scores = _combined(dense, lexical, similarity_weight)
    else:
        groups = {"": list(lexical)}
        scores = lexical
    best_first = [
        sorted(members, key=lambda index: (-scores[index], index)) for members in groups.values()
    ]
    places = placed(len(candidates), best_first)
    if not include_parts:
        return tuple(RankedPassage(candidates[at].passage_id, scores.get(at)) for at in places)
    weight = similarity_weight if spaces and lexical else float(bool(spaces))
    return tuple(
        RankedPassage(
            candidates[at].passage_id,
            scores[at],
            FormulaParts(
                spaces.get(at, ""),
                dense.get(at),
                lexical.get(at, 0.0) if lexical else None,
                weight,
            ),
        )
        if at in scores
        else RankedPassage(candidates[at].passage_id)
        for at in places
    )


def _lexical_shares(candidates: Sequence[ScoredCandidate]) -> dict[int, float]:
    """Returns b by candidate index; empty where no candidate has a BM25 score above 0."""
    given = {
        index: candidate.bm25_score
        for index, candidate in enumerate(candidates)
        if candidate.bm25_score is not None
    }
    best = max(given.values(), default=0.0)
    return {index: score / best for index, score in given.items()} if best > 0.0 else {}


def _one_space_each(candidates: Sequence[ScoredCandidate]) -> dict[int, str]:
    """Returns the space that each candidate with a cosine is ordered in, by candidate index."""
    available = {
        index: [
            score.space_id for score in candidate.space_scores if _similarity(score) is not None
        ]
        for index, candidate in enumerate(candidates)
    }
    sizes = Counter([space_id for space_ids in available.values() for space_id in space_ids])
    if len(sizes) == 1:
        return {index: space_ids[0] for index, space_ids in available.items() if space_ids}
    return {
        index: min(space_ids, key=lambda space_id: (-sizes[space_id], space_id))
        for index, space_ids in available.items()
        if space_ids
    }


def _grouped(spaces: Mapping[int, str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for index, space_id in spaces.items():
        groups.setdefault(space_id, []).append(index)
    return groups


def _dense_shares(
    candidates: Sequence[ScoredCandidate], space_id: str, members: Sequence[int]
) -> dict[int, float]:
    """Returns d by candidate index, for the candidates ordered in the space."""
    similarities = {
        index: similarity
        for index in members
        for score in candidates[index].space_scores
        if score.space_id == space_id and (similarity := _similarity(score)) is not None
    }
    smallest, largest = min(similarities.values()), max(similarities.values())
    span = largest - smallest
    if span == 0.0:
        return dict.fromkeys(similarities, 1.0)
    return {index: (value - smallest) / span for index, value in similarities.items()}


def _similarity(score: Similarity) -> float | None:
    if score.cosine is None or score.best_window_cosine is None:
        return score.cosine
    return (score.cosine + score.best_window_cosine) / 2.0


def _combined(
    dense: Mapping[int, float], lexical: Mapping[int, float], weight: float
) -> dict[int, float]:
    if not lexical:
        return dict(dense)
    return {
        index: weight * share + (1.0 - weight) * lexical.get(index, 0.0)
        for index, share in dense.items()
    }
