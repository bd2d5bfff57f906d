"""Sentences are held against the passages that they cite: numbers, names, codes, words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gateway.answers.checking.checked_answer import UnsupportedPolicy, check_answer
from gateway.answers.checking.facts import names_of, number_readings
from gateway.answers.checking.support import missing_from
from gateway.context.building import build_context
from gateway.context.formats import ContextFormat, ContextLanguage
from gateway.context.rules import ContextRules
from tests.fakes.gateway_services.context_hits import hit

FRENCH = ContextLanguage.FRENCH
SOURCE = (
    "Le retour des carreaux se fait sous trente jours après la livraison. Le barème est de "
    "1 234,50 € depuis le 3 mai 2024. M. Dupont suit le dossier BL-2024-117 à Marseille, de 7h30 à "
    "18 h. La remise atteint 12 % au-delà de 1.000 pièces."
)
BUILT = build_context("?", [hit(1, SOURCE)], ContextRules(ContextFormat.HEADED))


@pytest.mark.parametrize(
    "sentence",
    [
        "Le retour des carreaux se fait sous 30 jours après la livraison.",
        "Le barème est de 1234.5 € depuis le 03/05/2024.",
        "Le barème est de 1.234,50 € depuis le 3 mai 2024.",
        "M. Dupont suit le dossier BL-2024-117 à Marseille.",
        "La remise est de 12% au-delà de 1000 pièces.",
        "La remise atteint 12 % au-delà de 1,000 pièces.",
        "Le dossier est suivi de 7 h 30 à 18h.",
        "À Marseille, Dupont suit le dossier.",
        "The remise is 12 % beyond 1,000 pieces according to the grid of prices.",
    ],
)
def test_what_the_source_says_in_another_form_is_supported(sentence: str) -> None:
    """Numbers, dates and times in any French or English form, spelled numbers, other languages."""
    assert missing_from(sentence, BUILT.sources, "").nothing


@pytest.mark.parametrize(
    ("sentence", "numbers", "names"),
    [
        ("Le retour des carreaux se fait sous 31 jours.", ("31",), ()),
        ("La remise atteint 15 % au-delà de 1 000 pièces.", ("15",), ()),
        ("M. Durand suit le dossier à Marseille.", (), ("durand",)),
        ("M. Dupont suit le dossier BL-2024-118 à Marseille.", ("118",), ("bl-2024-118",)),
        ("Le dossier est suivi à Fécamp par M. Dupont.", (), ("fecamp",)),
    ],
)
def test_what_the_source_does_not_say_is_found(
    sentence: str, numbers: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """The number, name or code that is another one."""
    missing = missing_from(sentence, BUILT.sources, "")
    assert (missing.numbers, missing.names) == (numbers, names)


def test_words_of_another_subject_are_no_support() -> None:
    """A sentence that shares hardly a word with what it cites."""
    missing = missing_from(
        "Les employés cantonniers reçoivent une prime annuelle.", BUILT.sources, ""
    )
    assert missing.word_share is not None
    assert missing.word_share < 0.5
    assert not missing.nothing


def test_what_the_question_says_needs_no_source() -> None:
    """An answer may repeat it."""
    sentence = "Pour une commande de 77 pièces à Brest, la remise n'est pas de 12 %."
    assert not missing_from(sentence, BUILT.sources, "").nothing
    assert missing_from(sentence, BUILT.sources, "Quelle remise à Brest pour 77 pièces ?").nothing


@pytest.mark.parametrize(
    ("policy", "text", "cut"),
    [
        (
            UnsupportedPolicy.MARK,
            "La remise atteint 12 % [1]. La remise atteint 99 % [1]. (non confirmé par la source)",
            0,
        ),
        (UnsupportedPolicy.CUT, "La remise atteint 12 % [1].", 1),
    ],
)
def test_unsupported_sentences_are_marked_or_cut(
    policy: UnsupportedPolicy, text: str, cut: int
) -> None:
    """As the setting says; both are counted."""
    answer = check_answer(
        "La remise atteint 12 % [Source-1]. La remise atteint 99 % [Source-1].",
        BUILT.sources,
        BUILT.style,
        FRENCH,
        policy,
    )
    assert (answer.text, answer.unsupported_count, answer.cut_count) == (text, 1, cut)


def test_notes_are_in_the_language_of_the_context() -> None:
    """English ones beside English answers."""
    answer = check_answer(
        "Returns are accepted by everybody. The price is 99 [Source-1].",
        BUILT.sources,
        BUILT.style,
        ContextLanguage.ENGLISH,
    )
    assert answer.text == (
        "Returns are accepted by everybody. (no source) The price is 99 [1]. "
        "(not confirmed by the source)"
    )


@pytest.mark.parametrize(
    ("written", "readings"),
    [
        ("1 234,50", {"1234.5"}),
        ("1\u202f234,50", {"1234.5"}),
        ("1'234.50", {"1234.5"}),
        ("1.234,5", {"1234.5"}),
        ("1,234", {"1234", "1.234"}),
        ("12,5", {"12.5"}),
        ("2024", {"2024"}),
    ],
)
def test_a_number_is_one_in_every_form(written: str, readings: set[str]) -> None:
    """With the readings that it may have."""
    assert number_readings(f"vaut {written} €") == [frozenset(map(Decimal, readings))]


def test_names_are_words_with_a_capital_that_begin_no_sentence() -> None:
    """Behind an abbreviation too; and codes wherever they stand."""
    text = "Le port de Brest. Ensuite M. Durand : Voir BL-7. « Ici » Lyon ?"
    assert names_of(text) == ["brest", "durand", "bl-7", "lyon"]
