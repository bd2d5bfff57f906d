"""A rewrite that would find something else is told from one that can be used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriter_svc.faithfulness import LONGEST_REWRITE, Fault, Original, fault_of
from rewriter_svc.identifiers import identifiers_in
from rewriter_svc.language import query_language


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("où en est la commande BL-2024-117 ?", ["BL-2024-117"]),
        ("bonjour, Pouvez-vous retrouver la facture 4521 de M. Dupont ?", ["4521", "Dupont"]),
        ("quel délai pour l'Italie ou les États-Unis ?", ["Italie", "États-Unis"]),
        ("que dit le RGPD sur la TVA ?", ["RGPD", "TVA"]),
        ("QUE DIT LE RGPD ?", []),
        ("QUE DIT L'ARTICLE 12 ?", ["12"]),
        ("Hi, I'm looking for the C++ guide of my iPhone", ["C++", "iPhone"]),
        ("écrire à jean@exemple.fr", ["jean@exemple.fr"]),
        ("un taux de 5,5 % en 2024", ["5,5", "2024"]),
        ("Dupont a-t-il payé ? Martin aussi ?", []),
        ("quel est le prix du gaz ?", []),
        ("le dossier X-12 et le dossier X-12", ["X-12"]),
    ],
)
def test_identifiers_of_a_query(query: str, found: list[str]) -> None:
    """Numbers, codes, addresses, and names where capitals mean something."""
    assert identifiers_in(query) == found


GAS = "quel est le prix du gaz"
ORDER = "où est ma commande BL-2024-117 ?"


@pytest.mark.parametrize(
    ("query", "rewrite", "fault"),
    [
        (GAS, "prix gaz tarif énergie facture abonnement", None),
        (GAS, GAS, None),
        (GAS, "", Fault.EMPTY),
        (GAS, "?! -", Fault.EMPTY),
        (GAS, "prix gaz " + "tarif " * LONGEST_REWRITE, Fault.TOO_LONG),
        (GAS, "gas price tariff energy bill cost", Fault.OTHER_LANGUAGE),
        (GAS, "the price of gas is set by the supplier", Fault.OTHER_LANGUAGE),
        (GAS, "Je ne peux pas répondre à cette demande.", Fault.UNRELATED),
        ("what's the gas price", "gas price tariff energy bill supplier", None),
        ("what's the gas price", "prix du gaz tarif énergie facture", Fault.OTHER_LANGUAGE),
        ("what's the gas price", "I cannot help with that request.", Fault.UNRELATED),
        (ORDER, "suivi commande BL-2024-117 localisation colis", None),
        (ORDER, "suivi commande bl-2024-117", None),
        (ORDER, "suivi commande localisation colis", Fault.IDENTIFIER_LOST),
        (ORDER, "suivi commande BL-2024-118 localisation", Fault.IDENTIFIER_LOST),
        ("factures de Dupont en 2024", "factures Dupont année passée", Fault.IDENTIFIER_LOST),
        ("factures de Dupont en 2024", "factures client 2024", Fault.IDENTIFIER_LOST),
        ("factures de Dupont en 2024", "factures client Dupont 2024 règlement", None),
        ("cookies sur Facebook", "cookies Facebook traceurs consentement publicité", None),
        ("règles du Privacy Shield", "Privacy Shield accord transfert données", None),
        ("règles du Privacy Shield", "Privacy Shield policy agreement", None),
    ],
)
def test_faults_of_rewrites(query: str, rewrite: str, fault: Fault | None) -> None:
    """Each fault is told by its own name."""
    assert fault_of(rewrite, Original(query, query_language(query, "fr"))) is fault


def test_a_follow_up_may_take_its_words_from_the_conversation() -> None:
    """They are no other subject."""
    follow_up, rewrite = "et pour les pros ?", "tarif du gaz professionnels"

    assert fault_of("contrat", Original(follow_up, "fr")) is Fault.UNRELATED
    asked = Original(follow_up, "fr", context="Quel est le prix du gaz ?")
    assert fault_of(rewrite, asked) is None


def test_the_language_of_a_query_is_what_it_looks_like() -> None:
    """The workspace's own counts only where nothing else tells."""
    assert query_language("what is the price", "fr") == "en"
    assert query_language("quel est le prix", "en") == "fr"
    assert query_language("BL-2024-117", "en") == "en"
    assert query_language("BL-2024-117", "") == "fr"


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["fr", "en"]))
def test_any_text_can_be_judged(query: str, rewrite: str, language: str) -> None:
    """Whatever a user or a model writes; and a query is never a fault of itself."""
    fault_of(rewrite, Original(query, language))

    if any(character.isalnum() for character in query):
        assert fault_of(query, Original(query, language)) is None
