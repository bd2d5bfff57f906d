"""Language detection: short queries, allowed languages only, never an exception."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.language import detect_language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Combien de conteneurs sont partis ?", "fr"),
        ("l’eau", "fr"),
        ("délai", "fr"),
        ("retard livraison", "fr"),
        ("facture", "fr"),
        ("bon de livraison", "fr"),
        ("How many containers left?", "en"),
        ("delivery note", "en"),
        ("customer orders", "en"),
        ("doesn't arrive", "en"),
    ],
)
def test_short_queries_are_told_apart(text: str, expected: str) -> None:
    """A few words are enough, with or without function words."""
    assert detect_language(text) == expected


@pytest.mark.parametrize("text", ["", "  ", "123", "BL-2024", "北京"])
def test_text_without_a_clue_gets_the_most_likely_language(text: str) -> None:
    """Where nothing speaks for a language, the first allowed one is taken."""
    assert detect_language(text, ("fr", "en")) == "fr"
    assert detect_language(text, ("en", "fr")) == "en"


def test_only_allowed_languages_are_answered() -> None:
    """German text between French and English is one of these two."""
    german = "Der Hund läuft durch den Wald und sucht die Katze"

    assert detect_language(german) in {"fr", "en"}
    assert detect_language(german, ("fr", "de")) == "de"
    assert detect_language("the order", ("fr",)) == "fr"


@given(text=st.text(max_size=40), among=st.permutations(["fr", "en", "xx"]))
@settings(derandomize=True, max_examples=50, deadline=None)
def test_any_text_gets_an_allowed_language(text: str, among: list[str]) -> None:
    """No text raises, not even with a language that the model does not know."""
    assert detect_language(text, among) in among


def test_no_language_to_choose_from_is_refused() -> None:
    """An empty choice is a mistake of the caller."""
    with pytest.raises(ValueError, match="name at least one"):
        detect_language("bonjour", ())
