"""Without a chat model, sentences of the sources answer: word for word, each with its mark."""

from __future__ import annotations

import pytest

from gateway.answers.checking.checked_answer import check_answer
from gateway.answers.extraction import extractive_answer
from gateway.context.building import BuiltContext, build_context
from gateway.context.formats import ContextFormat, ContextLanguage
from gateway.context.rules import ContextRules
from tests.fakes.gateway_services.context_hits import hit

GUIDE = (
    "Le retour se fait sous 30 jours. Il faut joindre le bon de livraison [annexe 2]. Elle précise "
    "les quantités.\n\n- Les palettes restent au quai.\n- Le transport est payé par le client.\n\n"
    "| article | délai |\n| --- | --- |\n| bois | 15 jours |"
)
HITS = [
    hit(1, GUIDE, title="Guide"),
    hit(2, "Le barème 2024 est de 12 € par palette.", document="b.md", title="Barème"),
]


def answered(
    question: str, style: ContextFormat = ContextFormat.HEADED
) -> tuple[str, BuiltContext]:
    """Returns the answer and its context."""
    built = build_context(question, HITS, ContextRules(style))
    return extractive_answer(question, built.sources, built.language), built


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Sous combien de jours se fait un retour ?",
            "« Le retour se fait sous 30 jours. » [Source-1]",
        ),
        ("Qui paie le transport ?", "« Le transport est payé par le client. » [Source-1]"),
        ("Quel est le barème ?", "« Le barème 2024 est de 12 € par palette. » [Source-2]"),
    ],
)
def test_the_sentence_that_answers_is_quoted(question: str, expected: str) -> None:
    """First, with the mark of its source."""
    text, _ = answered(question)
    assert text.split("\n\n")[0] == expected


def test_a_row_of_a_table_is_a_sentence() -> None:
    """Without the signs around it."""
    text, _ = answered("Quel délai pour le bois ?")
    assert "« bois | 15 jours » [Source-1]" in text


def test_a_pronoun_brings_the_sentence_before() -> None:
    """Which says what it stands for; what stands in brackets cannot pose as a citation."""
    text, _ = answered("Quelles quantités précise-t-elle ?")
    assert text == (
        "« Il faut joindre le bon de livraison (annexe 2). » [Source-1]\n\n"
        "« Elle précise les quantités. » [Source-1]"
    )


@pytest.mark.parametrize("style", ContextFormat)
@pytest.mark.parametrize("question", ["Quel retour sous 30 jours ?", "Quel barème par palette ?"])
def test_quotations_pass_the_check_as_they_are(style: ContextFormat, question: str) -> None:
    """In every format: cited, supported, nothing removed."""
    text, built = answered(question, style)
    answer = check_answer(text, built.sources, built.style, built.language)

    assert answer.citations
    assert (answer.unknown_citation_count, answer.uncited_count, answer.unsupported_count) == (
        0,
        0,
        0,
    )


def test_nothing_in_common_is_no_answer() -> None:
    """There is nothing to quote."""
    assert answered("Comment cuire un gigot ?")[0] == ""
    assert extractive_answer("Quoi ?", [], ContextLanguage.FRENCH) == ""


def test_sources_in_another_language_answer_with_their_beginning() -> None:
    """Words cannot be compared; the search by meaning has found them."""
    built = build_context(
        "How long do customers have in order to send things back?",
        HITS,
        ContextRules(ContextFormat.HEADED),
        language=ContextLanguage.ENGLISH,
    )
    text = extractive_answer(
        "How long do customers have in order to send things back?", built.sources, built.language
    )
    assert text == "“Le retour se fait sous 30 jours.” [Source-1]"
