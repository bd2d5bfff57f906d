"""What every engine owes its callers: thresholds, by cosine and by terms, and who they judge."""

import asyncio

import pytest

from retriever_svc.engine import RetrievalEngine
from retriever_svc.explanations import ExplanationRequest, PassageOutcome
from retriever_svc.filters import Equals
from retriever_svc.searches import QueryVariant, SearchMode, SearchRequest, SearchResult
from retriever_svc.thresholds import Threshold
from retriever_svc.workspaces import WorkspaceLanguage, WorkspaceSettings
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)

NORTH = vector(1, 0, 0, 0)
# Terms: quel, horair, livraison, quai, fécamp -> five different ones in all.
QUESTION = "horaires de livraison sur le quai nord à Fécamp"
TERM_COUNT = 5


async def _fill(engine: RetrievalEngine) -> None:
    """Passages that hold all, two, one and none of the question's terms; none has a vector."""
    texts = [
        "Livraison au quai nord de Fécamp : horaires du matin.",
        "Le quai sud ferme à midi, livraison comprise.",
        "La livraison coûte douze euros.",
        "Rien à voir.",
    ]
    uploads = [upsert(f"d{index}", [text]) for index, text in enumerate(texts)]
    await asyncio.gather(*map(engine.upsert_document, uploads))


async def _shares(engine: RetrievalEngine, threshold: Threshold) -> dict[str, float | None]:
    result = await engine.search_passages(request(QUESTION, thresholds=(threshold,)))
    return {hit.document.external_id: hit.term_share for hit in result.hits}


async def test_a_share_of_terms_judges_where_there_is_no_vector(engine: RetrievalEngine) -> None:
    """By different terms held, whatever they weigh; the bound itself stays."""
    await _fill(engine)
    for least, expected in (
        (0.0, {"d0": 1.0, "d1": 2 / TERM_COUNT, "d2": 1 / TERM_COUNT}),
        (0.4, {"d0": 1.0, "d1": 2 / TERM_COUNT}),
        (0.41, {"d0": 1.0}),
        (1.0, {"d0": 1.0}),
    ):
        assert await _shares(engine, Threshold(SPACE, 0.9, least)) == expected
        assert await _shares(engine, Threshold(min_term_share=least)) == expected
    assert await _shares(engine, Threshold(SPACE, 0.9)) == {"d0": 1.0, "d1": 2 / TERM_COUNT}


async def test_titles_headings_and_keywords_hold_terms_too(engine: RetrievalEngine) -> None:
    """A term in two fields counts once."""
    await engine.upsert_document(
        upsert("a", ["Voir le quai nord."], title="Quai de Fécamp", keywords=("livraison",))
    )

    assert await _shares(engine, Threshold(min_term_share=0.1)) == {"a": 4 / TERM_COUNT}


async def test_the_language_that_fits_best_counts(engine: RetrievalEngine) -> None:
    """In a workspace of both, a passage is judged in its own language."""
    await engine.create_workspace("both", WorkspaceSettings(WorkspaceLanguage.AUTO))
    await engine.upsert_document(
        upsert("en", ["The deliveries arrive daily."], workspace="both", language="en")
    )
    judged = (Threshold(min_term_share=0.9),)
    for question, count in (("delivery arriving", 1), ("delivery of flowers", 0)):
        result = await engine.search_passages(
            request(question, workspace="both", thresholds=judged)
        )
        assert len(result.hits) == count


async def _two_spaces(engine: RetrievalEngine) -> None:
    near, far = passage_vectors([[1, 0, 0, 0]]), passage_vectors([[0, 1, 0, 0]])
    elsewhere = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("near", ["autre chose"], vectors=[near]))
    await engine.upsert_document(upsert("far", ["navire"], vectors=[far]))
    await engine.upsert_document(upsert("elsewhere", ["navire gris"], vectors=[elsewhere]))
    await engine.upsert_document(upsert("silent", ["gris"], vectors=[elsewhere]))
    await engine.upsert_document(upsert("waiting", ["un navire"]))


def _ids(result: SearchResult) -> set[str]:
    return {hit.document.external_id for hit in result.hits}


async def test_each_rule_judges_by_its_own_score_only(engine: RetrievalEngine) -> None:
    """A lexical hit by its cosine, a passage of another space not at all, the rest by terms."""
    await _two_spaces(engine)
    vectors = {SPACE: NORTH, OTHER_SPACE: NORTH}
    both = (Threshold(SPACE, 0.5), Threshold(OTHER_SPACE, 0.5))
    one = await engine.search_passages(request("navire", vectors, thresholds=both[:1]))
    two = await engine.search_passages(request("navire", vectors, thresholds=both))
    # A rule by terms has the shares of all computed; the rule of a space must not use them.
    beside = await engine.search_passages(
        request("navire", vectors, thresholds=(both[0], Threshold(min_term_share=0.0)))
    )

    assert _ids(one) == {"near", "elsewhere", "silent", "waiting"}
    assert _ids(beside) == _ids(one)
    assert _ids(two) == {"near", "waiting"}
    assert one.drop_counts == {0: 1}
    assert two.drop_counts == {0: 1, 1: 2}


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.LEXICAL])
async def test_without_query_vectors_terms_judge_all(
    engine: RetrievalEngine, mode: SearchMode
) -> None:
    """With the embedder lost, a rule on a space still keeps out what says nothing."""
    await _two_spaces(engine)
    result = await engine.search_passages(
        request("navire bleu marine", mode=mode, thresholds=(Threshold(SPACE, 0.5, 0.3),))
    )

    assert _ids(result) == {"far", "elsewhere", "waiting"}
    assert {hit.term_share for hit in result.hits} == {1 / 3}


async def test_a_wording_without_terms_judges_nothing(engine: RetrievalEngine) -> None:
    """A share that cannot be had is absent, not zero."""
    await _two_spaces(engine)
    variants = (QueryVariant("de la"), QueryVariant("navire"))
    result = await engine.search_passages(
        SearchRequest("docs", variants, thresholds=(Threshold(min_term_share=1.0),))
    )

    assert _ids(result) == {"far", "elsewhere", "waiting"}
    assert {hit.term_share for hit in result.hits} == {None}


async def test_distances_differ_for_the_week_looked_at(engine: RetrievalEngine) -> None:
    """0.75 for documents of that week; 0.70 for other weeks and for documents without one."""
    rows = {0.72: [0.28, 0.96, 0, 0], 0.69: [0.31, 0.950737, 0, 0], 0.76: [0.24, 0.970773, 0, 0]}
    uploads = [
        upsert(
            f"{week!r} at {distance}",
            ["plan"],
            vectors=[passage_vectors([row])],
            metadata={} if week is None else {"week": week},
        )
        for week in (12.0, 13.0, None, "12")
        for distance, row in rows.items()
    ]
    await asyncio.gather(*map(engine.upsert_document, uploads))
    rules = (
        Threshold(SPACE, 1 - 0.75, context_field="week"),
        Threshold(SPACE, 1 - 0.70, context_field="week", context_differs=True),
    )

    async def ids(**context: float) -> set[str]:
        search = request("plan", {SPACE: NORTH}, thresholds=rules, context=context)
        return _ids(await engine.search_passages(search))

    everywhere = {f"{week!r} at 0.69" for week in (12.0, 13.0, None, "12")}
    assert await ids(week=12.0) == everywhere | {"12.0 at 0.72"}
    assert await ids(week=13.0) == everywhere | {"13.0 at 0.72"}
    assert await ids() == everywhere


async def test_the_rule_that_dropped_a_passage_is_named(engine: RetrievalEngine) -> None:
    """By position, with the score and the bound; the first of several; a condition can free."""
    await _two_spaces(engine)
    rules = (
        Threshold(SPACE, 0.9, condition=Equals("category", "x")),
        Threshold(SPACE, 0.5, 0.8),
        Threshold(min_term_share=0.9),
    )
    search = request("navire bleu", {SPACE: NORTH}, thresholds=rules)

    async def told(external_id: str) -> tuple[PassageOutcome, int | None, str]:
        answer = await engine.explain_passages(ExplanationRequest(search, external_id=external_id))
        (passage,) = answer.passages
        return passage.outcome, passage.threshold_index, passage.detail

    under = PassageOutcome.UNDER_THRESHOLD
    assert await told("far") == (
        under,
        1,
        f"thresholds[1]: its cosine 0.0000 in space {SPACE} is under 0.5000",
    )
    assert await told("waiting") == (
        under,
        1,
        "thresholds[1]: its share 0.50 of the question's terms is under 0.80 and it has no "
        "cosine in any space",
    )
    assert await told("near") == (
        under,
        2,
        "thresholds[2]: its share 0.00 of the question's terms is under 0.90",
    )
    assert found(await engine.search_passages(search)) == []
