"""Which entries of a glossary stand in a question."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.glossary.board import GlossaryBoard
from gateway.glossary.editing import in_order
from gateway.glossary.entry import Glossary, GlossaryEntry
from gateway.glossary.matching import MAX_SENT_BYTES, MAX_SENT_ENTRIES, GlossaryIndex
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.validation import MAX_QUERY_BYTES
from tests.fakes.gateway_services.glossary import FakeGlossaryStore
from text_analysis.tokens import Analyzer

WORDS = ("bon", "livraisons", "Livraison", "conteneurs", "le", "de", "quai", "port", "été", "C++")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
TERMS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def index_of(*terms: str, synonym: str = "autre mot") -> GlossaryIndex:
    """Returns the index of a glossary with these terms."""
    return GlossaryIndex(Glossary(tuple(GlossaryEntry(term, (synonym,)) for term in terms), 7))


def found(index: GlossaryIndex, *texts: str, language: str = "fr") -> list[str]:
    """Returns the terms that stand in texts."""
    return [entry.term for entry in index.matching(texts, language).entries]


@pytest.mark.parametrize(
    ("term", "query"),
    [
        ("BL", "où est le bl ?"),
        ("bon de livraison", "les bons de livraisons du mois"),
        ("surestarie", "Qui paie les Surestaries ?"),
        ("l'entrepôt", "entrepots pleins"),
        ("C++", "un module en C++"),
    ],
)
def test_a_term_is_found_in_whatever_form(term: str, query: str) -> None:
    """Case, accents, plural and articles do not count, as in the search itself."""
    assert found(index_of(term), query) == [term]


@pytest.mark.parametrize(
    "query", ["livraison du bon", "bon pour livraison gratuite en livraison", "bonne livraison", ""]
)
def test_words_that_do_not_follow_each_other_are_not_the_term(query: str) -> None:
    """Order counts, and so does what stands between."""
    assert found(index_of("bon livraison express"), query) == []


def test_a_term_does_not_reach_from_one_text_into_the_next() -> None:
    """A turn ends with "bon", the next begins with "livraison"."""
    assert found(index_of("bon livraison"), "un bon", "livraison") == []


def test_entries_of_the_query_come_before_those_of_earlier_turns() -> None:
    """Within a text by place, the longer term of two that begin there first; each once."""
    index = index_of("port", "port sec", "quai", "grue")
    texts = ("le port sec du quai", "la grue du quai", "port")

    assert found(index, *texts) == ["port sec", "port", "quai", "grue"]


def test_a_workspace_without_one_language_looks_in_both() -> None:
    """French stems "journaux" to "journal", English "shipped" to "ship"."""
    index = index_of("journal", "ship")

    assert found(index, "les journaux", "shipped goods", language="") == ["journal", "ship"]
    assert found(index, "les journaux", "shipped goods", language="fr") == ["journal"]
    assert found(index, "les journaux", "shipped goods", language="en") == ["ship"]


def test_no_more_is_sent_than_the_bounds_allow() -> None:
    """At most 20 entries, and so many bytes that a query with them stays one."""
    many = [f"t{number}" for number in range(50)]

    assert found(index_of(*many), " ".join(many)) == many[:MAX_SENT_ENTRIES]
    long = index_of(*many, synonym="é" * 100).matching([" ".join(many)], "fr").entries
    assert len(long) == MAX_SENT_BYTES // 204
    assert index_of("port").matching(["port"], "fr", max_bytes=14).entries == ()
    assert index_of("port").matching(["port"], "fr", max_bytes=15).entries


def check_what_is_sent(terms: list[str], texts: list[str], language: str) -> None:
    """Asserts that exactly what stands in the texts is found."""
    analyzer = Analyzer(language)

    def stands(term: str) -> bool:
        words = " ".join(analyzer.terms(term))
        spaced = [f" {' '.join(analyzer.terms(text))} " for text in texts]
        return bool(words) and any(f" {words} " in each for each in spaced)

    unique = list(dict.fromkeys(terms))
    assert set(found(index_of(*unique), *texts, language=language)) == set(filter(stands, unique))


@given(st.lists(TERMS, max_size=8), st.lists(TEXTS, max_size=3), st.sampled_from(["fr", "en"]))
@settings(derandomize=True, max_examples=60, deadline=None)
def test_what_is_sent_stands_in_a_text_and_what_stands_there_is_sent(
    terms: list[str], texts: list[str], language: str
) -> None:
    """Compared with a search for the joined words in the joined words."""
    unique = {term.casefold(): term for term in terms}
    check_what_is_sent(list(unique.values()), texts, language)


def test_any_texts_at_all(soak: bool) -> None:
    """The same with terms and texts of any letters."""
    letters = st.text(alphabet=string.ascii_lowercase[:4] + " '-é", max_size=12)
    terms = st.lists(letters, max_size=6, unique_by=str.casefold)

    @given(terms, st.lists(letters, max_size=3))
    @settings(derandomize=True, max_examples=5_000 if soak else 60, deadline=None)
    def check(terms: list[str], texts: list[str]) -> None:
        check_what_is_sent(terms, texts, "fr")

    check()


async def board_of(store: FakeGlossaryStore) -> GlossaryBoard:
    """Returns a board that has read the store once."""
    board = GlossaryBoard(store)
    await board.refresh()
    return board


async def test_searches_never_ask_the_database() -> None:
    """What the last refresh brought is what they get, with its version."""
    store = FakeGlossaryStore()
    store.put("w", GlossaryEntry("BL", ("bordereau",)))
    board = await board_of(store)
    reads = store.reads

    matching = [board.matching(workspace, "fr", "mon BL") for workspace in ("w", "other")]

    assert [(len(each.entries), each.version) for each in matching] == [(1, 1), (0, 0)]
    assert store.reads == reads


async def test_a_lost_database_keeps_the_last_good_glossaries() -> None:
    """Until it is back; then what others changed meanwhile counts."""
    store = FakeGlossaryStore()
    store.put("w", GlossaryEntry("BL", ("bordereau",)))
    board = await board_of(store)
    store.lost = True
    store.put("w", GlossaryEntry("DEB", ("déclaration",)))

    await board.refresh()
    assert board.matching("w", "fr", "BL et DEB").entries[0].term == "BL"

    store.lost = False
    await board.refresh()
    assert [each.term for each in board.matching("w", "fr", "BL et DEB").entries] == ["DEB"]


async def test_a_refresh_reads_only_what_has_changed() -> None:
    """One read for the versions, and one for each glossary of another version."""
    store = FakeGlossaryStore()
    for workspace in ("a", "b", "c"):
        store.put(workspace, GlossaryEntry("BL", ("bordereau",)))
    board = await board_of(store)
    store.put("b")
    reads = store.reads

    await board.refresh()

    assert store.reads == reads + 2


async def test_a_change_counts_at_once_and_an_older_one_does_not_undo_it() -> None:
    """Two changes whose answers come back in the other order."""
    board = await board_of(FakeGlossaryStore())
    first = (GlossaryEntry("BL", ("bordereau",)),)
    both = in_order([*first, GlossaryEntry("DEB", ("déclaration",))])
    await board.change("w", lambda _: first)
    assert len(board.matching("w", "fr", "BL, DEB").entries) == 1

    await board.change("w", lambda _: both)
    await board._take("w", Glossary(first, 1))

    assert board.matching("w", "fr", "BL, DEB").version == 2
    assert len(board.matching("w", "fr", "BL, DEB").entries) == 2


async def test_the_latest_turn_comes_first_and_a_full_query_leaves_no_room() -> None:
    """What is sent with a query must fit beside it into one."""
    store = FakeGlossaryStore()
    store.put("w", *(GlossaryEntry(term, ("mot",)) for term in ("port", "quai")))
    board = await board_of(store)
    history = [ConversationTurn(ConversationRole.USER, text) for text in ("un port", "un quai")]
    full = "port ".ljust(MAX_QUERY_BYTES - 5, "x")

    terms = [entry.term for entry in board.matching("w", "fr", "et alors ?", history).entries]

    assert terms == ["quai", "port"]
    assert board.matching("w", "fr", full).entries == ()
