"""Explains a search by hand."""

from chassis.errors import NotFound
from retriever_svc.explanations import (
    Explanation,
    ExplanationRequest,
    ListStanding,
    MatchedTerm,
    PassageExplanation,
    PassageOutcome,
)
from retriever_svc.filter_misses import miss_in_words
from tests.fakes.plain_engine.plain_search import PlainSearch, PlainVerdict
from tests.fakes.plain_engine.plain_workspace import PlainPassage, PlainWorkspace


def explain(workspace: PlainWorkspace, request: ExplanationRequest) -> Explanation:
    """Explains what a search did with passages. Raises NotFound and InvalidArgument."""
    search = PlainSearch(workspace, request.search)
    explained = [_explained(search, passage) for passage in _expected(workspace, request)]
    explained.sort(key=lambda one: (one.fused_rank is None, one.fused_rank or one.chunk_index))
    return Explanation(tuple(explained), workspace.seq)


def _expected(workspace: PlainWorkspace, request: ExplanationRequest) -> list[PlainPassage]:
    if request.external_id is not None:
        workspace.document(request.external_id)
        return workspace.passages_of(request.external_id)
    passage = workspace.passages.get(request.passage_id or 0)
    if passage is None:
        raise NotFound(f"no passage {request.passage_id} in workspace {workspace.slug!r}")
    return [passage]


def _explained(search: PlainSearch, passage: PlainPassage) -> PassageExplanation:
    passage_id = passage.passage_id
    kept_out = passage_id not in search.among
    verdict = next((one for one in search.verdicts if one.hit.passage_id == passage_id), None)
    outcome = PassageOutcome.IN_NO_LIST if verdict is None else verdict.outcome
    if kept_out:
        outcome = PassageOutcome.FILTERED_OUT
    return PassageExplanation(
        passage_id=passage_id,
        external_id=passage.external_id,
        chunk_index=passage.passage.chunk_index,
        heading_path=passage.passage.heading_path,
        location=passage.passage.location,
        outcome=outcome,
        detail=_detail(search, outcome, verdict, passage),
        fused_rank=None if verdict is None else verdict.hit.fused_rank,
        fused_score=None if verdict is None else verdict.hit.fused_score,
        standings=_standings(search, passage_id, verdict, kept_out=kept_out),
        matched_terms=_matched_terms(search, passage_id),
        space_scores=search.space_scores(passage_id),
        bm25_score=search.bm25.scores(search.terms[0], [passage_id]).get(passage_id, 0.0),
        term_share=search.bm25.share(search.terms[0], passage_id),
        threshold_index=None if verdict is None else verdict.threshold_index,
    )


def _standings(
    search: PlainSearch, passage_id: int, verdict: PlainVerdict | None, *, kept_out: bool
) -> tuple[ListStanding, ...]:
    everything = set(search.workspace.passages)
    uncut = search.make_lists(everything if kept_out else search.among, len(everything))
    contributions = {
        (search.lists.described[place.list_index].variant_index,
         search.lists.described[place.list_index].space_id): place.contribution
        for place in (() if verdict is None else verdict.hit.places)
    }  # fmt: skip
    standings = []
    for described, ranking in zip(uncut.described, uncut.rankings, strict=True):
        if passage_id not in ranking.ids:
            continue
        index, space_id = described.variant_index, described.space_id
        rank = list(ranking.ids).index(passage_id) + 1
        score = (
            search.cosine(passage_id, index, space_id)
            if space_id
            else search.bm25.scores(search.terms[index], [passage_id])[passage_id]
        )
        contribution = contributions.get((index, space_id), 0.0)
        effective = rank * ranking.rank_scale
        standings.append(ListStanding(index, space_id, rank, effective, score, contribution))
    return tuple(standings)


def _matched_terms(search: PlainSearch, passage_id: int) -> tuple[MatchedTerm, ...]:
    weights: dict[str, float] = {}
    for term in {term for terms in search.terms[0].values() for term in terms}:
        alone = {
            language: [one for one in terms if one == term]
            for language, terms in search.terms[0].items()
        }
        scores = search.bm25.scores(alone, [passage_id])
        if passage_id in scores:
            weights[term] = scores[passage_id]
    return tuple(
        MatchedTerm(term, weights[term])
        for term in sorted(weights, key=lambda one: (-weights[one], one))
    )


def _detail(
    search: PlainSearch,
    outcome: PassageOutcome,
    verdict: PlainVerdict | None,
    passage: PlainPassage,
) -> str:
    request = search.request
    if outcome is PassageOutcome.FILTERED_OUT and request.filter is not None:
        document = search.workspace.document(passage.external_id).document
        return f"the filter {miss_in_words(document, request.filter)}"
    if outcome is PassageOutcome.IN_NO_LIST or verdict is None:
        return f"no list holds it among its first {request.candidate_count}"
    if outcome is PassageOutcome.UNDER_THRESHOLD:
        return f"thresholds[{verdict.threshold_index}]: {verdict.missed}"
    return f"{outcome.value}; place {verdict.hit.fused_rank} after fusion"
