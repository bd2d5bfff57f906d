"""What a question asks for, and sentences that cannot answer it."""

from __future__ import annotations

import pytest

from gateway.answers.extraction import extractive_answer
from gateway.answers.sought import SoughtValue, asked_terms, sought_value, unheld_by
from gateway.context.building import build_context
from tests.fakes.gateway_services.context_hits import hit


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("À quel prix propose-t-on le café ?", SoughtValue.AMOUNT),
        ("prix de la plinthe gris perle au mètre ?", SoughtValue.AMOUNT),
        ("On paye combien par an pour la police ?", SoughtValue.AMOUNT),
        ("Combien coûte un certificat ?", SoughtValue.AMOUNT),
        ("How much is the fee?", SoughtValue.AMOUNT),
        ("What is the price of a pallet?", SoughtValue.AMOUNT),
        ("Le taux de service en octobre ?", SoughtValue.RATE),
        ("Il reste combien de salons ?", SoughtValue.NUMBER),
        ("How long does a crossing take?", SoughtValue.NUMBER),
        ("Quel est le numéro de l'astreinte ?", SoughtValue.NUMBER),
        ("Quelle date a-t-on annoncée ?", SoughtValue.NUMBER),
        ("Pourquoi le tarif a-t-il changé ?", None),
        ("Qui remplace Clotilde ?", None),
        ("How do I pay?", None),
    ],
)
def test_the_kind_of_value_is_told(question: str, value: SoughtValue | None) -> None:
    """In French and in English; reasons, people and ways are none."""
    assert sought_value(question) is value


@pytest.mark.parametrize(
    ("value", "sentence", "holds"),
    [
        (SoughtValue.AMOUNT, "Le quai facture 1 234,50 € par jour.", True),
        (SoughtValue.AMOUNT, "It costs $40.", True),
        (SoughtValue.AMOUNT, "La police PF-88214 est souscrite.", False),
        (SoughtValue.RATE, "Le seuil est de 96 %.", True),
        (SoughtValue.RATE, "Nous avons livré 96 boîtes.", False),
        (SoughtValue.NUMBER, "Comptez huit semaines.", True),
        (SoughtValue.NUMBER, "Le numéro est dans le classeur bleu.", False),
        (SoughtValue.AMOUNT, "Corse | 279 | sur devis", True),
        (SoughtValue.AMOUNT, "Port | Jours | Passage", False),
    ],
)
def test_a_sentence_holds_the_value_or_not(value: SoughtValue, sentence: str, holds: bool) -> None:
    """In a row of a table a number is enough: the unit stands above it."""
    assert value.stands_in(sentence) is holds


@pytest.mark.parametrize(
    ("question", "unheld"),
    [
        ("Combien de jours pour Casablanca ?", ("casablanca",)),
        ("Les Taïwanais, ils prennent combien ?", ()),
        ("Combien de fûts en 2023 ?", ("2023",)),
        ("Où en est BL-2024-117 ?", ("bl-2024-117",)),
        ("Quel port en 2024 ?", ()),
        ("J'ai 7 palettes, quel port ?", ()),
        ("Is Houston closed on Monday?", ()),
        ("What is the capital of Mongolia?", ("mongolia",)),
    ],
)
def test_names_codes_and_years_that_no_source_holds(question: str, unheld: tuple[str, ...]) -> None:
    """Names are compared by their beginnings, codes whole; other numbers are the asker's case."""
    assert unheld_by(question, ["Taïwan et Houston, en 2024 : 12 jours."]) == unheld


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Comment fait-on pour tailler un rosier ?", {"taill", "tailler", "ros", "rosier"}),
        ("Quelle est la recette de la tarte ?", {"recet", "recett", "tart"}),
        ("How do I bake the bread?", {"bak", "bake", "bread"}),
        ("Qui est-ce ?", set()),
    ],
)
def test_a_question_is_about_its_other_words(question: str, terms: set[str]) -> None:
    """Words that make it a question, and stop words of either language, are left aside."""
    assert asked_terms(question) == terms


SOURCES = build_context(
    "?",
    [
        hit(
            1,
            "La plinthe gris perle existe. La plinthe se vend au mètre. Le gris perle plaît "
            "beaucoup à tous nos clients. Un mètre de plinthe coûte 12 € depuis mai.",
            title="Plinthes",
        ),
        hit(2, "Le retour coûte 45 €.", document="b.md", title="Barème"),
    ],
).sources


def _quoted(question: str) -> str:
    return extractive_answer(question, SOURCES, build_context("?", []).language)


def test_the_sentence_with_the_value_is_among_the_quoted() -> None:
    """Also where three others have more to do with the question's words."""
    text = _quoted("prix de la plinthe gris perle au mètre ?")

    assert "12 €" in text
    assert text.count("«") <= 3


@pytest.mark.parametrize(
    "question",
    [
        "Quel est le taux de casse de la plinthe ?",
        "Combien coûte la plinthe à Casablanca ?",
        "prix de la plinthe en 2019 ?",
    ],
)
def test_what_cannot_be_an_answer_is_not_quoted(question: str) -> None:
    """A rate that no sentence holds, a town and a year that no source names."""
    assert _quoted(question) == ""


def test_the_same_without_its_impossible_part_is_answered() -> None:
    """The refusal comes from there and nowhere else."""
    assert "12 €" in _quoted("Combien coûte la plinthe ?")
