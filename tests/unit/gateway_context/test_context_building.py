"""Which passages become sources, in which order, and how much room they take."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.context.building import build_context, estimated_tokens
from gateway.context.formats import ContextFormat
from gateway.context.rules import ContextRules
from gateway.context.sources import merged
from tests.fakes.gateway_services.context_hits import hit

STYLES = st.sampled_from(ContextFormat)


def test_superseded_documents_are_left_out() -> None:
    """However well they match; what is left out is counted by reason."""
    hits = [
        hit(1, "Ancien.", superseded=True),
        hit(2, "Nouveau.", document="b.md"),
    ]
    context = build_context("Quel délai ?", hits)

    assert [source.source.text for source in context.sources] == ["Nouveau."]
    assert context.left_out.superseded == context.left_out.count == 1


def test_a_document_has_so_many_passages_at_most() -> None:
    """The best of them; 0 is no bound."""
    hits = [hit(rank, f"Passage {rank}.", chunk_index=10 * rank) for rank in range(1, 6)]
    two = build_context("?", hits, ContextRules(passages_per_document=2))
    all_ = build_context("?", hits, ContextRules(passages_per_document=0))

    assert {source.source.rank for source in two.sources} == {1, 2}
    assert two.left_out.over_document_bound == 3
    assert len(all_.sources) == 5


def test_neighbours_become_one_source_without_their_overlap() -> None:
    """In the order of the document, at the place of the best of them."""
    hits = [
        hit(1, "milieu. Une phrase commune aux deux. Puis la fin.", chunk_index=3),
        hit(2, "Ailleurs.", document="b.md"),
        hit(3, "Le début, puis le milieu. Une phrase commune aux deux.", chunk_index=2),
        hit(4, "Plus loin.", chunk_index=5),
    ]
    sources = merged(hits)

    assert [(source.rank, source.text) for source in sources] == [
        (1, "Le début, puis le milieu. Une phrase commune aux deux. Puis la fin."),
        (2, "Ailleurs."),
        (4, "Plus loin."),
    ]


def test_neighbours_with_little_in_common_are_set_apart() -> None:
    """A few equal letters are chance."""
    (source,) = merged([hit(1, "Il a fini.", chunk_index=0), hit(2, "ni plus.", chunk_index=1)])
    assert source.text == "Il a fini.\n\nni plus."


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet="ab ", max_size=60), st.text(alphabet="ab ", max_size=60))
def test_an_overlap_is_found_where_there_is_one(text: str, following: str) -> None:
    """The longest end of one text that begins the other, as trying every length finds it."""
    longest = next(
        (
            length
            for length in range(min(len(text), len(following)), 11, -1)
            if text.endswith(following[:length])
        ),
        0,
    )
    (source,) = merged([hit(1, text, chunk_index=0), hit(2, following, chunk_index=1)])
    expected = following[longest:] if longest else f"\n\n{following}"
    assert source.text == text + expected


def test_a_long_overlap_is_found_at_once() -> None:
    """In time that grows with the texts, not with their square: this one would take minutes."""
    text = "a" * 300_000
    (source,) = merged([hit(1, text + "b", chunk_index=0), hit(2, text + "c", chunk_index=1)])
    assert source.text == f"{text}b\n\n{text}c"


def test_the_best_source_stands_first_and_the_second_last() -> None:
    """Models read the middle least."""
    hits = [hit(rank, f"{rank}", document=f"{rank}.md", title=f"{rank}") for rank in range(1, 6)]
    context = build_context("?", hits)

    assert [source.source.rank for source in context.sources] == [1, 3, 5, 4, 2]
    assert [source.index for source in context.sources] == [1, 2, 3, 4, 5]


def test_a_source_that_does_not_fit_is_passed_over_for_a_shorter_one() -> None:
    """What is left out is counted."""
    hits = [
        hit(1, "court " * 20, document="a.md", title="A"),
        hit(2, "long " * 2_000, document="b.md", title="B"),
        hit(3, "court " * 20, document="c.md", title="C"),
    ]
    context = build_context("?", hits, ContextRules(token_budget=200))

    assert [source.source.external_id for source in context.sources] == ["a.md", "c.md"]
    assert context.left_out.over_budget == 1
    assert not context.is_cut


def test_an_only_source_that_is_too_long_is_cut() -> None:
    """At a word, and said so: a part of the best passage is more than nothing."""
    context = build_context("?", [hit(1, "mot " * 5_000)], ContextRules(token_budget=300))
    (source,) = context.sources

    assert context.is_cut
    assert source.source.text.endswith("mot…")
    assert 250 < context.token_estimate <= 300


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(alphabet="ab=-\n[]:é 漢", max_size=400),
            st.text(alphabet="Tt[]|\n é漢", max_size=300),
            st.integers(0, 3),
            st.integers(0, 9),
        ),
        max_size=12,
    ),
    st.integers(64, 600),
    STYLES,
)
def test_no_block_is_over_its_budget(
    passages: list[tuple[str, str, int, int]], budget: int, style: ContextFormat
) -> None:
    """Whatever titles, headings and texts are like; every passage is in a source or counted."""
    hits = [
        hit(
            rank,
            text,
            document=f"{document}.md",
            title=title,
            chunk_index=index,
            heading_path=(title, text[:50]),
        )
        for rank, (text, title, document, index) in enumerate(passages, start=1)
    ]
    context = build_context("?", hits, ContextRules(style, budget, 3))

    assert context.token_estimate == estimated_tokens(context.block) <= budget
    in_sources = sum(len(source.source.hits) for source in context.sources)
    assert in_sources + context.left_out.count == len(hits)


def test_tokens_of_unspaced_scripts_are_counted_by_character() -> None:
    """Chinese needs about a token a character, French about a third."""
    assert estimated_tokens("漢字" * 50) == 100
    assert estimated_tokens("mot " * 25) == 35
