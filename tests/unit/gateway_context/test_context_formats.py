"""The three formats, byte for byte, and marks that name one document each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.context.building import build_context
from gateway.context.formats import ContextFormat, ContextLanguage, numbered_sources
from gateway.context.rules import ContextRules
from gateway.context.sources import merged
from tests.fakes.gateway_services.context_hits import hit

HITS = [
    hit(1, "Le retour se fait sous 30 jours.", heading_path=("Guide", "Retours")),
    hit(
        2,
        "Le barème est de 12 €.",
        document="b.md",
        title="Barème 2024",
        heading_path=("Barèmes", "2024"),
    ),
]

NUMBERED = """\
[Source 1: "Procédure retours v2"]
Le retour se fait sous 30 jours.

[Source 2: "Barème 2024"]
Le barème est de 12 €."""

TITLED = """\
=== CONTEXTE DOCUMENTAIRE PERTINENT (RAG) ===
[Source: Procédure retours v2]
Le retour se fait sous 30 jours.

[Source: Barème 2024]
Le barème est de 12 €.
==="""

HEADED = """\
[Source-1] (Guide > Retours)
Le retour se fait sous 30 jours.

---

[Source-2] (Barèmes > 2024)
Le barème est de 12 €."""


@pytest.mark.parametrize(
    ("style", "block", "marks"),
    [
        (
            ContextFormat.NUMBERED,
            NUMBERED,
            ["[[source:a.md|Procédure retours v2]]", "[[source:b.md|Barème 2024]]"],
        ),
        (
            ContextFormat.TITLED,
            TITLED,
            ["[Source: Procédure retours v2]", "[Source: Barème 2024]"],
        ),
        (ContextFormat.HEADED, HEADED, ["[Source-1]", "[Source-2]"]),
    ],
)
def test_blocks_are_written_exactly_so(style: ContextFormat, block: str, marks: list[str]) -> None:
    """In French; each source is cited by the mark of its format."""
    context = build_context("Quel délai ?", HITS, ContextRules(style))

    assert context.block == block
    assert [source.mark for source in context.sources] == marks
    assert context.style is style


def test_the_english_block_has_an_english_border() -> None:
    """Only what stands around the passages is translated."""
    context = build_context(
        "How long?", HITS, ContextRules(ContextFormat.TITLED), language=ContextLanguage.ENGLISH
    )

    expected = TITLED.replace(
        "=== CONTEXTE DOCUMENTAIRE PERTINENT (RAG) ===", "=== RELEVANT DOCUMENT CONTEXT (RAG) ==="
    )
    assert context.block == expected


def test_no_hits_leave_an_empty_block() -> None:
    """And no source."""
    context = build_context("Quel délai ?", [], ContextRules(ContextFormat.TITLED))

    assert (context.block, context.sources, context.token_estimate) == ("", (), 0)


def test_documents_of_one_title_are_told_apart() -> None:
    """The second one has a number behind its title, in block and mark alike."""
    hits = [
        hit(1, "Un.", document="a.md", title="Tarifs"),
        hit(2, "Deux.", document="b.md", title="tarifs"),
        hit(3, "Trois.", document="a.md", title="Tarifs", chunk_index=7),
    ]
    context = build_context("Combien ?", hits, ContextRules(ContextFormat.TITLED))
    marks = {source.source.text: source.mark for source in context.sources}

    assert marks == {
        "Un.": "[Source: Tarifs]",
        "Deux.": "[Source: tarifs (2)]",
        "Trois.": "[Source: Tarifs]",
    }
    assert "[Source: tarifs (2)]\nDeux." in context.block


@pytest.mark.parametrize(
    ("document", "title", "mark"),
    [
        ("A|B", "T", "[[source:A%7CB|T]]"),
        ("A]]B", "T", "[[source:A%5D%5DB|T]]"),
        ("A%7CB", "T", "[[source:A%257CB|T]]"),
        ("a", "x]] | [[source:b", "[[source:a|x)) / ((source:b]]"),
        ("a", "deux\nlignes", "[[source:a|deux lignes]]"),
        ("a", "【Source】", "[[source:a|(Source)]]"),
        ("a", "", "[[source:a|a]]"),
        ("a", "t" * 300, f"[[source:a|{'t' * 199}…]]"),
    ],
)
def test_ids_and_titles_cannot_end_their_mark(document: str, title: str, mark: str) -> None:
    """Signs of an id are escaped so that no two ids become one; those of a title are replaced."""
    (source,) = numbered_sources(
        merged([hit(1, "x", document=document, title=title)]), ContextFormat.NUMBERED
    )
    assert source.mark == mark


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6, unique=True),
    st.lists(st.text(alphabet="aA[]| \n(2)", max_size=6), min_size=6, max_size=6),
    st.sampled_from(ContextFormat),
)
def test_no_two_documents_share_a_mark(
    documents: list[str], titles: list[str], style: ContextFormat
) -> None:
    """Whatever they are called; and a mark is one line with one end."""
    hits = [
        hit(rank, "x", document=document, title=titles[rank - 1])
        for rank, document in enumerate(documents, start=1)
    ]
    marks = [source.mark for source in numbered_sources(merged(hits), style)]

    assert len(set(marks)) == len(documents)
    for mark in marks:
        assert "\n" not in mark
        assert mark.count("]") == (2 if style is ContextFormat.NUMBERED else 1)
