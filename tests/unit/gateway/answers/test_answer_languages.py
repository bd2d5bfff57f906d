"""Whether an answer is in the language of its question."""

from __future__ import annotations

import pytest

from gateway.answers.languages import has_enough_letters, is_in_other_language, language_of
from gateway.context.formats import ContextLanguage

FRENCH = "Le délai de livraison est de trente jours à compter de la réception de la commande."
ENGLISH = "The delivery takes thirty days from the reception of the signed order, at the latest."
GERMAN = "Die Lieferung erfolgt innerhalb von dreißig Tagen nach Eingang der Bestellung im Lager."
SPANISH = "La entrega se realiza en treinta días desde la recepción del pedido por el cliente."


@pytest.mark.parametrize(
    ("text", "expected", "other"),
    [
        (FRENCH, "fr", False),
        (ENGLISH, "en", False),
        (ENGLISH, "fr", True),
        (FRENCH, "en", True),
        (GERMAN, "fr", True),
        (GERMAN, "en", True),
        (SPANISH, "fr", True),
        ("The order.", "fr", False),
        ("42", "en", False),
        ("", "fr", False),
        (f"`{ENGLISH}` [{ENGLISH}]", "fr", False),
        (
            "EPAL 1200x800, BL-2024-117 carreaux grès cérame Morbi 60x60 ingélif UPEC U4P4",
            "fr",
            False,
        ),
    ],
)
def test_only_what_is_sure_counts(text: str, expected: str, other: bool) -> None:
    """Short texts, titles of documents, code and articles of trade prove nothing."""
    assert is_in_other_language(text, expected) is other


def test_marks_are_no_letters_of_the_answer() -> None:
    """A long title does not make a short answer long."""
    assert not has_enough_letters(f"Oui [[source:a.md|{FRENCH}]].")
    assert has_enough_letters(FRENCH)


@pytest.mark.parametrize(
    ("question", "usual", "language"),
    [
        ("Quel est le délai de retour ?", "en", ContextLanguage.FRENCH),
        ("What is the delay?", "fr", ContextLanguage.ENGLISH),
        ("BL-2024-117", "en", ContextLanguage.ENGLISH),
        ("BL-2024-117", "fr", ContextLanguage.FRENCH),
        ("BL-2024-117", "", ContextLanguage.FRENCH),
    ],
)
def test_a_question_is_answered_in_its_language(
    question: str, usual: str, language: ContextLanguage
) -> None:
    """In doubt in that of the workspace, and in French where that is open."""
    assert language_of(question, usual) is language
