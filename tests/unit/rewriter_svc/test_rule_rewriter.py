"""Without a chat model: what a query is about, and what the glossary says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriter_svc.glossary import synonyms_for
from rewriter_svc.identifiers import identifiers_in
from rewriter_svc.keywords import keywords_of
from rewriter_svc.rewriting import (
    GlossaryEntry,
    ListWeights,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
)
from rewriter_svc.rule_rewriter import RuleRewriter


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("Bonjour, pouvez-vous me dire quel est le prix du gaz, s'il vous plaît ?", "prix gaz"),
        ("Qu'est-ce que la TVA ?", "TVA"),
        ("Comment déclarer l'impôt sur le revenu ?", "déclarer impôt revenu"),
        ("La mairie peut-elle demander la liste ?", "mairie demander liste"),
        ("Qu'y a-t-il dans le fichier PNR ?", "fichier PNR"),
        ("je ne veux pas payer sans facture", "ne veux pas payer sans facture"),
        ("où en est la commande BL-2024-117 ?", "commande BL-2024-117"),
        ("le prix de 3.14 € en C++", "prix 3.14 C++"),
        ("pourquoi ?", ""),
    ],
)
def test_french_keywords(query: str, keywords: str) -> None:
    """Politeness, question words, articles and pronouns go; negations, codes and order stay."""
    assert keywords_of(query, "fr") == keywords


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("Hi, could you please tell me what the gas price is?", "gas price"),
        (
            "How do I return a broken tile without the receipt?",
            "return broken tile without receipt",
        ),
        ("what's the warranty for this?", "warranty"),
        ("Does IT support US keyboards?", "IT support US keyboards"),
        ("it is not delivered, thanks in advance", "not delivered"),
    ],
)
def test_english_keywords(query: str, keywords: str) -> None:
    """The same in English; names that look like pronouns stay."""
    assert keywords_of(query, "en") == keywords


@given(
    st.lists(
        st.sampled_from(
            [
                "BL-2024-117",
                "RGPD",
                "12",
                "prix",
                "le",
                "quel",
                "pouvez-vous",
                "l'Italie",
                "?",
                "et",
            ]
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_identifier_is_ever_lost(words: list[str]) -> None:
    """Whatever stands around it."""
    query = "le " + " ".join(words)
    kept = keywords_of(query, "fr").split()

    assert set(identifiers_in(query)) <= set(kept)


GLOSSARY = (
    GlossaryEntry("BL", ("bordereau de livraison", "bon de livraison")),
    GlossaryEntry("bons de commande", ("BC",)),
    GlossaryEntry("avoir", ("note de crédit",)),
)


@pytest.mark.parametrize(
    ("query", "synonyms"),
    [
        ("où est mon BL ?", ["bordereau de livraison", "bon de livraison"]),
        ("où est mon bl", ["bordereau de livraison", "bon de livraison"]),
        ("le BL est un bon de livraison", ["bordereau de livraison"]),
        ("le bon de la commande 12", ["BC"]),
        ("bon pour commande", ["BC"]),
        ("la commande du bon", []),
        ("le BLE", []),
        ("quel est le prix", []),
    ],
)
def test_the_glossary_is_found_by_words(query: str, synonyms: list[str]) -> None:
    """In any form, whole and in order; what the query says itself is not said again."""
    assert synonyms_for(query, GLOSSARY, "fr") == synonyms


async def test_keywords_are_for_vectors_alone() -> None:
    """BM25 drops the same words by itself."""
    query = "Pouvez-vous me dire quel est le prix du gaz ?"
    rewrite = await RuleRewriter(keywords=True).rewrite(RewriteRequest("acme", query))

    assert (rewrite.query, rewrite.standalone_question) == ("prix gaz", query)
    assert rewrite.origin is RewriteOrigin.RULES
    assert (rewrite.report.outcome, rewrite.report.provider) == (StageOutcome.RAN, "rules")
    assert rewrite.weights.lexical == 0.0
    assert rewrite.weights.dense > 0.0


async def test_synonyms_are_for_both() -> None:
    """They are new to BM25."""
    request = RewriteRequest("acme", "Où est mon BL de mars ?", glossary=GLOSSARY)
    plain = await RuleRewriter().rewrite(request)
    rewrite = await RuleRewriter(keywords=True).rewrite(request)

    assert plain.query == "Où est mon BL de mars ? bordereau de livraison bon de livraison"
    assert rewrite.query == "BL mars bordereau de livraison bon de livraison"
    assert rewrite.weights == plain.weights == ListWeights(1.0, 1.0)


@pytest.mark.parametrize("query", ["prix gaz", "Prix gaz ?", "comment ?", "qui est-ce ?"])
async def test_a_query_without_filler_stays(query: str) -> None:
    """And so does one that is nothing else."""
    rewrite = await RuleRewriter(keywords=True).rewrite(RewriteRequest("acme", query))

    assert (rewrite.query, rewrite.origin) == (query, RewriteOrigin.ORIGINAL)
    assert (rewrite.report.outcome, rewrite.report.reason) == (
        StageOutcome.SKIPPED,
        "NOT_CONFIGURED",
    )


async def test_keywords_have_to_be_asked_for() -> None:
    """They cost one more embedding, and the reranked order hardly changes."""
    query = "Pouvez-vous me dire quel est le prix du gaz ?"
    rewrite = await RuleRewriter().rewrite(RewriteRequest("acme", query))

    assert (rewrite.query, rewrite.origin) == (query, RewriteOrigin.ORIGINAL)
    assert rewrite.report.reason == "NOT_CONFIGURED"


async def test_only_a_rewriter_without_rules_may_be_left_alone() -> None:
    """One that has keywords, or was sent a glossary, may rewrite the next query."""
    seconds = [
        (await rewriter.rewrite(request)).unchanged_for_s
        for rewriter in (RuleRewriter(unchanged_for_s=7.0), RuleRewriter(keywords=True))
        for request in (
            RewriteRequest("acme", "prix gaz"),
            RewriteRequest("acme", "prix gaz", glossary=GLOSSARY),
        )
    ]

    assert seconds == [7.0, None, None, None]
