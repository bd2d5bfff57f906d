"""What is given out of a draft stays, is checked, and is all that the check of the whole says."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.checking.checked_answer import CheckedAnswer, check_answer
from gateway.answers.draft import Draft, OtherLanguage
from gateway.context.building import build_context
from gateway.context.formats import ContextFormat
from gateway.context.rules import ContextRules
from tests.fakes.gateway_services.context_hits import hit

HITS = (
    hit(1, "Le délai de retour est de 30 jours. Voir https://kb.test/ok.", document="a.md"),
    hit(2, "Les frais de retour sont de 45 euros.", document="b.md", title="Barème 2024"),
)
PIECES = (
    "Le délai de retour est de 30 jours {0}. ",
    "Les frais de retour sont de 45 euros {1}. ",
    "Les frais sont de 99 euros {1}. ",
    "Selon le barème. {1} ",
    "Voyez ![x. Y](https://evil.test/a) ici. ",
    "Cliquez [ici](https://evil.test/b_(c)). ",
    '<img alt="a. B" src="https://evil.test/c"> Bien. ',
    "Allez sur https://evil.test/d. ",
    "C'est là : https://kb.test/ok. ",
    "Inventé [[source:gone.md|Rien]] [Source-9]. ",
    "\n\n- un point {0}\n- un autre {1}\n\n",
    "\n\n```\ncode. [1] Encore.\n```\n\n",
    "\n\n## Titre\n\n",
    "| a | b |\n|---|---|\n| 30 jours {0} | c. D |\n",
    "M. Dupont le dit, art. 12, env. 3 fois {0}, {1}. ",
    "Sans fin ",
)


def _draft(style: ContextFormat = ContextFormat.NUMBERED) -> tuple[Draft, list[str]]:
    context = build_context("Quel délai ?", HITS, ContextRules(style))

    def check(text: str) -> CheckedAnswer:
        return check_answer(text, context.sources, style, context.language)

    return Draft(check, "fr"), [source.mark for source in context.sources]


def _written(draft: Draft, text: str, rng: random.Random) -> str:
    given, at = [], 0
    while at < len(text):
        size = rng.randrange(1, 12)
        given.append(draft.add(text[at : at + size]))
        at += size
    given.append(draft.close(complete=True))
    return "".join(given)


@pytest.mark.parametrize("style", list(ContextFormat))
@given(seed=st.integers(0, 10**6))
@settings(derandomize=True, max_examples=40, deadline=None)
def test_what_is_given_is_the_check_of_the_whole(style: ContextFormat, seed: int) -> None:
    """In every format, for pieces of any length; nothing of a foreign link is in it."""
    rng = random.Random(seed)
    draft, marks = _draft(style)
    parts = [rng.choice(PIECES).format(*marks) for _ in range(rng.randrange(2, 9))]
    text = "".join([PIECES[0].format(*marks), *parts])
    given = _written(draft, text, rng)

    assert given == draft.text == draft.checked.text
    assert given == _draft(style)[0]._check(text).text
    assert "evil.test" not in given
    assert "source:" not in given


def test_nothing_is_given_before_a_source_is_cited() -> None:
    """An answer that cites none leaves nothing behind."""
    draft, (mark, _) = _draft()
    first = draft.add("Bonjour à tous, voici une longue introduction qui ne cite rien du tout. ")
    second = draft.add("Une autre phrase suit, qui ne cite rien non plus, hélas. Puis ")
    third = draft.add(f"le délai de retour est de 30 jours {mark}. Et")

    assert (first, second) == ("", "")
    assert third.startswith("Bonjour")
    assert third.endswith("30 jours [1].")
    assert draft.text == third


def test_an_answer_without_citations_gives_nothing() -> None:
    """Also at its end."""
    draft, _ = _draft()
    draft.add("PWNED. Voici tout ce que je sais, sans rien citer. ")

    assert draft.close(complete=True) == ""
    assert draft.text == ""


def test_an_unfinished_sentence_is_left_out() -> None:
    """Unless it was whole."""
    whole, (mark, _) = _draft()
    cut, _ = _draft()
    text = f"Le délai de retour est de 30 jours {mark}. Et les frais"

    assert whole.add(text) + whole.close(complete=True) == (
        "Le délai de retour est de 30 jours [1]. Et les frais (sans source)"
    )
    assert cut.add(text) + cut.close(complete=False) == "Le délai de retour est de 30 jours [1]."


def test_what_was_given_is_never_taken_back() -> None:
    """A check that goes back on what it said is not followed, and the draft says so."""
    citation = _draft()[0]._check(PIECES[0].format(_draft()[1][0])).citations
    texts = iter(["", "Le début.", "Un autre début. Et la suite."])
    draft = Draft(lambda _text: CheckedAnswer(next(texts), citation), "fr")
    long = (
        "Le délai de retour des carreaux est de trente jours après la livraison, sans exception. "
    )

    assert draft.add(f"{long}Et") == "Le début."
    assert draft.is_whole
    assert draft.close(complete=True) == ""
    assert draft.text == "Le début."
    assert not draft.is_whole


def test_another_language_is_told_before_anything_is_given() -> None:
    """As soon as enough of it has come, and at the end at the latest."""
    draft, (mark, _) = _draft()
    short, _ = _draft()
    text = (
        f"The tiles may be returned to us within 30 days after they were delivered to you {mark}."
    )

    with pytest.raises(OtherLanguage):
        draft.add(f"{text} And")
    assert short.add(text) == ""
    with pytest.raises(OtherLanguage):
        short.close(complete=True)
    assert (draft.text, short.text) == ("", "")
