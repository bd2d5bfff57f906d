"""Accents and ligatures that typesetting systems leave apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingestion.extraction.typesetting import repaired


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r´esum´e ´etabli `a No¨el, tˆete et fran¸cais, na\u02c6\u0131tre", None),
        ("re´sume´ e´tabli Noe¨l te^te", "résumé établi Noël te^te"),
        ("voil`a o`u", "voilà où"),
        ("l´été d´abord qu´il", "l’été d’abord qu’il"),
        ("e\u21b5orts, di\u21b5érent, e\0cace", "efforts, différent, efficace"),
        ("e\x0bort o\x0ece sou\x0fet", "effort office soufflet"),
        ("`code` et ``mot'' 5 ´ 3", "`code` et ``mot'' 5 ´ 3"),
        ("a\0b", "a\0b"),
        ("touche \u21b5 Entrée", "touche \u21b5 Entrée"),
    ],
)
def test_accents_and_ligatures_are_repaired(text: str, expected: str | None) -> None:
    """On either side of the letter; signs that mean themselves are left alone."""
    expected = expected or "résumé établi `a Noël, tête et français, naître"

    assert repaired([text]) == [expected]


@given(st.lists(st.text("abeiou éèçàï'’.-`´", max_size=30), max_size=4))
def test_text_without_detached_signs_stays(texts: list[str]) -> None:
    """Nothing is touched where there is nothing to repair."""
    plain = [text.replace("´", "").replace("`", "") for text in texts]

    assert repaired(plain) == plain
