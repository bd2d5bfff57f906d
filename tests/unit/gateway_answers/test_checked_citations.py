"""Citations of an answer are those of its own context, whatever a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.checking.checked_answer import CheckedAnswer, Citation, check_answer
from gateway.context.building import BuiltContext, build_context
from gateway.context.formats import ContextFormat, ContextLanguage
from gateway.context.rules import ContextRules
from tests.fakes.gateway_services.context_hits import hit

FRENCH = ContextLanguage.FRENCH
HITS = [
    hit(1, "Le retour se fait sous 30 jours.", heading_path=("Guide", "Retours"), location="p. 2"),
    hit(2, "Le barème est de 12 €.", document="b.md", title="Barème 2024"),
]


def context(style: ContextFormat) -> BuiltContext:
    """Returns a context of two documents; the first source is a.md."""
    return build_context("Quel délai ?", HITS, ContextRules(style))


def checked(text: str, style: ContextFormat = ContextFormat.HEADED) -> CheckedAnswer:
    """Checks a text against it."""
    built = context(style)
    return check_answer(text, built.sources, style, FRENCH)


@pytest.mark.parametrize(
    ("style", "mark"),
    [
        (ContextFormat.NUMBERED, "[[source:a.md|Procédure retours v2]]"),
        (ContextFormat.NUMBERED, "[[source:a.md]]"),
        (ContextFormat.NUMBERED, "[source:A.MD|procédure retours v2]"),
        (ContextFormat.NUMBERED, "[[ source: a.md | Procédure  retours v2 ]]"),
        (ContextFormat.NUMBERED, "[[source:autre|Procédure retours v2]]"),
        (ContextFormat.NUMBERED, '[Source 1: "Procédure retours v2"]'),
        (ContextFormat.NUMBERED, "[Source 1]"),
        (ContextFormat.TITLED, "[Source: Procédure retours v2]"),
        (ContextFormat.TITLED, "[source : « procédure retours V2 »]"),
        (ContextFormat.HEADED, "[Source-1]"),
        (ContextFormat.HEADED, "[source 1]"),
        (ContextFormat.HEADED, "[Source n°1]"),
        (ContextFormat.HEADED, "【Source-1】"),
        (ContextFormat.HEADED, "［Source-1］"),
        (ContextFormat.HEADED, "[1]"),
    ],
)
def test_a_mark_is_known_however_it_is_written(style: ContextFormat, mark: str) -> None:
    """It becomes [1], and the citation says what that stands for."""
    answer = checked(f"Le retour se fait sous 30 jours {mark}.", style)

    assert answer.text == "Le retour se fait sous 30 jours [1]."
    assert answer.citations == (
        Citation(
            1,
            "a.md",
            "Procédure retours v2",
            "https://kb.test/a.md",
            ("Guide", "Retours"),
            "p. 2",
        ),
    )
    assert answer.unknown_citation_count == 0


@pytest.mark.parametrize(
    "mark", ["[Source-7]", "[[source:zzz.md|Faux]]", "[Source: Inventé]", "[9]", "【Source-0】"]
)
def test_a_mark_of_no_source_is_removed_and_counted(mark: str) -> None:
    """So that nothing invented looks vouched for: the sentence then has no source."""
    answer = checked(f"Le retour se fait sous 30 jours {mark}.")

    assert answer.text == "Le retour se fait sous 30 jours. (sans source)"
    assert (answer.citations, answer.unknown_citation_count) == ((), 1)
    assert answer.uncited_count == 1


def test_several_sources_in_one_mark_are_told_apart() -> None:
    """Known ones are numbered in the order in which they are used, unknown ones counted."""
    answer = checked(
        "Le barème est de 12 € [Source-2]. Le retour sous 30 jours, le barème de 12 € "
        "[Source-1, Source-2 et 5]."
    )

    assert answer.text == (
        "Le barème est de 12 € [1]. Le retour sous 30 jours, le barème de 12 € [2][1]."
    )
    assert [citation.document_id for citation in answer.citations] == ["b.md", "a.md"]
    assert answer.unknown_citation_count == 1


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    """On the same line; the next sentence has its own."""
    answer = checked(
        "Le retour se fait sous 30 jours. [Source-1] Le barème est de 12 €. [Source-2]"
    )

    assert answer.text == ("Le retour se fait sous 30 jours. [1] Le barème est de 12 €. [2]")
    assert (answer.uncited_count, answer.unsupported_count) == (0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "## Retours",
        "**Délai**",
        "Voici ce que disent les sources :",
        "Souhaitez-vous autre chose ?",
        "---",
        "Oui.",
        "| Article | Délai |\n|---|---|",
    ],
)
def test_what_says_nothing_needs_no_source(text: str) -> None:
    """Headings, introductions, questions, borders, a few words."""
    answer = checked(text)
    assert (answer.text, answer.uncited_count) == (text, 0)


def test_code_is_left_alone() -> None:
    """Fenced or between backticks: what looks like a mark there is none."""
    text = "La commande `x[1]` suit [Source-1].\n\n```\na[2] = [Source-1]\n![x](http://e.test)\n```"
    answer = checked(text)

    assert "`x[1]`" in answer.text
    assert "a[2] = [Source-1]\n![x](http://e.test)" in answer.text
    assert len(answer.citations) == 1
    assert answer.removed_links == 0


def test_an_empty_answer_stays_empty() -> None:
    """And cites nothing."""
    assert checked("") == CheckedAnswer("", ())


SENTENCES = st.sampled_from(
    [
        "Le retour se fait sous 30 jours [Source-1].",
        "Le retour se fait sous 30 jours. [Source-1]",
        "Le barème est de 99 € [Source-2].",
        "Tout le monde en est content depuis longtemps.",
        "Rien de cela n'est vrai [Source-8].",
        "- un point de la liste est long de 30 jours [1, 2]",
        "Voir [ici](https://evil.test) ou https://evil.test/x [Source-1].",
        "## Titre\n",
        "```\ncode [1]\n```\n",
        "Fin ![image](data:image/png;base64,AAAA).",
        "Bref.",
    ]
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=7), st.sampled_from([" ", "\n", "\n\n"]))
def test_what_was_checked_stays_when_the_answer_goes_on(parts: list[str], gap: str) -> None:
    """Behind every whole sentence, so that it can be given out while the model writes."""
    built = context(ContextFormat.HEADED)
    whole = ""
    before = ""
    for part in parts:
        # Only a full stop ends a sentence within its line.
        ended = whole.endswith((".", "]")) and not part.startswith(("-", "#", "`"))
        listed = whole.rpartition("\n")[2].startswith("-")
        whole = f"{whole}{gap if ended and not listed else chr(10) * 2}{part}".lstrip()
        answer = check_answer(whole, built.sources, built.style, FRENCH)
        assert answer.text.startswith(before)
        before = answer.text
        numbers = [citation.index for citation in answer.citations]
        assert numbers == list(range(1, len(numbers) + 1))
        assert "Source-8" not in answer.text
        assert "evil.test" not in answer.text
        assert "data:" not in answer.text
