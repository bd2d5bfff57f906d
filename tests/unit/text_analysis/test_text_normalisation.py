"""Normalised text: what falls together, and where each character came from."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.normalisation import fold_accents, normalise

TRICKY = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            list("aéŒœß½ﬁİ’'´ -‑²№…\u00a0\u00ad\u0301\u0327\u1100\u1161\u11a8\uff76\uff9e")
        ),
        st.characters(codec="utf-8"),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L’EAU", "l'eau"),
        ("l´eau l`eau lʼeau", "l'eau l'eau l'eau"),
        ("BL\u20112024\u2013117", "bl-2024-117"),
        ("ﬁche ½ №", "fiche 1/2 no"),
        ("co\u00adopération", "coopération"),
        ("e\u0301te\u0301", "été"),
        ("STRASSE Straße", "strasse strasse"),
        ("１２３", "123"),
    ],
)
def test_what_readers_see_as_equal_becomes_equal(text: str, expected: str) -> None:
    """Compatibility forms, apostrophes, hyphens, invisible characters and case are unified."""
    assert normalise(text).text == expected


def test_offsets_lead_back_to_the_original_characters() -> None:
    """Characters of an expansion share the span of the character they came from."""
    text = "ﬁ½e\u0301x"
    normalised = normalise(text)

    assert normalised.text == "fi1/2éx"
    spans = list(zip(normalised.starts, normalised.ends, strict=True))
    assert spans == [(0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (2, 4), (4, 5)]
    assert normalised.original_span(0, 2) == (0, 1)


@given(text=TRICKY)
@settings(derandomize=True, max_examples=300)
def test_offsets_stay_inside_the_text_and_never_go_back(text: str) -> None:
    """Every normalised character comes from a non-empty span; spans never go back."""
    normalised = normalise(text)

    assert len(normalised.starts) == len(normalised.ends) == len(normalised.text)
    assert all(
        0 <= start < end <= len(text)
        for start, end in zip(normalised.starts, normalised.ends, strict=True)
    )
    assert normalised.starts == sorted(normalised.starts)
    assert normalised.ends == sorted(normalised.ends)


@given(text=st.text(alphabet="aeçéÉœ'’ n°½ﬁ\n", max_size=40))
@settings(derandomize=True, max_examples=100)
def test_composed_and_decomposed_text_are_equal(text: str) -> None:
    """NFC and NFD forms of a text normalise to the same text."""
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)

    assert normalise(composed).text == normalise(decomposed).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cœur œuvre ŒUVRE", "coeur oeuvre OEUVRE"),
        ("été naïf garçon Noël", "ete naif garcon Noel"),
        ("smørrebrød Łódź ıspanak", "smorrebrod Lodz ispanak"),
        ("ガギグ 한국 हिन्दी", "ガギグ 한국 हिन्दी"),
    ],
)
def test_accents_and_ligatures_are_folded(text: str, expected: str) -> None:
    """Latin accents and ligatures go; marks that carry the word in other scripts stay."""
    assert fold_accents(text) == expected
