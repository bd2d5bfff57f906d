"""Sentences: abbreviations do not end them, and no text gets lost between them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["M. Dupont est arrivé à 9 h.", "Il a vu Mme. Durand."],
        ["Voir p. ex. l'art. 12 du Code civil.", "Fin."],
        ["Le prix est de 3.14 euros, soit env. 1 234,56 $.", "Merci !"],
        ["L'U.E. compte 27 pays.", "Le Dr. Martin et al. (2020) l'a dit."],
        ["Il habite au 1er ét. de l'av. Foch.", "J.-C. Dupond, né en 1950, etc.", "Voilà."],
        ["Il est.", "Puis M. X part.", "Cf. art. L. 121-1."],
        ["« Vraiment ? » dit-il.", "« Oui ! »", "Elle rit."],
        ["(Voir la note.)", "Suite.", '"Quoi ?"', "Fin."],
        ["Il part... puis revient.", "En 2024.", "Voilà…", "Non."],
        ["Acme Inc. The firm's note, e.g. This one.", "It left at 5 p.m.", "Then we did."],
        ["Tell me.", "The end."],
        ["北京。", "上海！", "好"],
    ],
)
def test_sentences_end_only_where_they_do(expected: list[str]) -> None:
    """Titles, references, initials, acronyms and list numbers do not end a sentence."""
    assert sentences(" ".join(expected)) == expected


def test_blank_lines_and_list_items_end_sentences() -> None:
    """Headings and items have no full stop and still stand alone; wrapped lines do not."""
    text = "Titre\n\nUn texte\nqui continue\n- un\n- deux\r\n\r\n1. Ouvrir\n2. Compter"

    assert sentences(text) == [
        "Titre",
        "Un texte\nqui continue",
        "- un",
        "- deux",
        "1. Ouvrir",
        "2. Compter",
    ]


@given(
    text=st.text(
        alphabet=st.one_of(
            st.sampled_from(list("aBÉ1.!?… \n\r\t«»\"')(-–*#M。\u00a0")),
            st.characters(codec="utf-8"),
        ),
        max_size=80,
    )
)
@settings(derandomize=True, max_examples=400)
def test_spans_grow_and_lose_nothing(text: str) -> None:
    """Spans are trimmed, non-empty, strictly growing, and hold every non-blank character."""
    spans = sentence_spans(text)

    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert not text[position:start].strip()
        position = end
    assert not text[position:].strip()


def test_text_without_blanks_is_one_sentence() -> None:
    """Neither long runs of stops nor of letters are cut or slow to read."""
    for text in ("." * 100_000, "a" * 100_000, "»" * 100_000):
        assert sentence_spans(text) == [(0, len(text))]
