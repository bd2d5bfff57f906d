"""The query is found in whatever a model wrote around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriter_svc.output_cleaning import cleaned, follow_up

SAID = "prix du gaz tarif"


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        f"  {SAID}\n",
        f"Requête : {SAID}",
        f"Requête réécrite : {SAID}",
        f"La requête reformulée: {SAID}",
        f"Mots-clés : {SAID}",
        f"Query: {SAID}",
        f"Rewritten query: {SAID}",
        f"The rewritten search query: {SAID}",
        f"**Query:** {SAID}",
        f"**Requête** : {SAID}",
        f"## {SAID}",
        f"SEARCH: {SAID}",
        f'"{SAID}"',
        f"« {SAID} »",
        f"“{SAID}”",
        f"'{SAID}'",
        f"`{SAID}`",
        f"**{SAID}**",
        f'Query: "**{SAID}**"',
        f"- {SAID}",
        f"1. {SAID}",
        f"1) {SAID}",
        f"• {SAID}",
        f"```\n{SAID}\n```",
        f"```text\n{SAID}\n```\nExplication : mots ajoutés",
        f"~~~\n{SAID}",
        f"Voici la requête réécrite :\n{SAID}",
        f"Voici : {SAID}",
        f"Here's the rewritten query: {SAID}",
        f'Sure! Here is the query:\n\n"{SAID}"\n\nI added synonyms.',
        f"Bien sûr, voici une proposition :\n- {SAID}\n\nCette version ajoute des termes.",
        f"{SAID}\n\nNote: I kept the entities.",
        f"{SAID} (note : synonymes ajoutés)",
        f"{SAID} — Explication : synonymes ajoutés",
        f"{SAID}\nJ'ai ajouté tarif.",
        f"{SAID} I added the word tarif.",
        f"\u200b{SAID}\ufeff",
        "prix  du\tgaz   tarif",
        "- prix\n- du gaz\n- tarif",
        "1. prix du gaz\n2. tarif",
        "* prix du gaz\n* tarif\n* tarif",
    ],
)
def test_what_surrounds_a_query_is_taken_off(text: str) -> None:
    """Labels, quotes, fences, bullets, further lines, explanations; lists are joined."""
    assert cleaned(text) == SAID


@pytest.mark.parametrize(
    "text",
    [
        "3.14 valeur de pi",
        "C++ templates vector",
        "search engine optimisation",
        "note de frais remboursement",
        "délai - note de crédit",
        "'prix' et 'tarif'",
        "Query language SQL : jointures",
        "question prioritaire de constitutionnalité",
        "facture n° 12 - retard",
        "l'eau d'Évian",
        "voici venu le temps des rires",
    ],
)
def test_what_belongs_to_a_query_stays(text: str) -> None:
    """Though it looks like what is taken off elsewhere."""
    assert cleaned(text) == text


@pytest.mark.parametrize("text", ["", " \n ", "```\n```", '""', "**", "Query:", "-\n-"])
def test_of_nothing_nothing_is_left(text: str) -> None:
    """Whatever stands around it."""
    assert not any(character.isalnum() for character in cleaned(text))


@given(st.text(max_size=80))
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    """One line without blanks around it, and the same when it is cleaned again."""
    once = cleaned(text)

    assert once == " ".join(once.split())
    assert cleaned(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "QUESTION: Quel est le délai ?\nSEARCH: délai livraison",
        '**Question:** Quel est le délai ?\n\n- search : "délai livraison"',
        "Sure!\nSEARCH: délai livraison\nQUESTION: Quel est le délai ?\nQUESTION: autre",
        "```\nquestion: « Quel est le délai ? »\nsearch: délai livraison\n```",
    ],
)
def test_the_lines_of_a_follow_up_are_found(text: str) -> None:
    """In either order, in any case, the first of each."""
    lines = follow_up(text)

    assert (lines.question, lines.search) == ("Quel est le délai ?", "délai livraison")


def test_a_missing_line_is_empty() -> None:
    """So that its reader can do without."""
    assert follow_up("SEARCH: prix").question == ""
    assert follow_up("prix du gaz") == follow_up("")
