"""What the BM25 index finds in French and English."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.store.rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage

FRENCH = {
    1: "L’eau d'Évian se vend en bouteilles de verre.",
    2: "Le cœur du moteur est en acier.",
    3: "Un ingénieur visite l'entrepôt du Havre.",
    4: "Le connaissement BL-2024-117 est signé.",
    5: "Le logiciel est écrit en C++ et en C.",
    6: "La valeur de pi est 3.14 environ.",
    7: "Ce produit n'est pas dangereux.",
    8: "北京烤鸭很好",
    9: "La facture porte le numéro 117 de l'année 2024.",
}


def entry(passage_id: int, text: str, **fields: object) -> LexicalEntry:
    """Returns what the index takes of a passage."""
    given = {"language": "", "title": "", "heading_path": (), "keywords": (), **fields}
    return LexicalEntry(passage_id, text=text, **given)  # type: ignore[arg-type]


def index_of(
    path: Path,
    entries: Sequence[LexicalEntry],
    language: WorkspaceLanguage = WorkspaceLanguage.FRENCH,
    **settings: float,
) -> LexicalIndex:
    """Returns a committed index of these entries."""
    index = LexicalIndex(
        path / "lexical",
        store_identity="store",
        workspace_id=1,
        language=language,
        settings=LexicalSettings(**settings),  # type: ignore[arg-type]
    )
    index.apply([], entries)
    index.commit(1)
    return index


def compact(index: LexicalIndex, entries: Sequence[LexicalEntry], *, seq: int) -> None:
    """Builds an index of these entries aside, and exchanges it for the one there was."""
    terms = index.begun_aside()
    terms.apply([], entries)
    index.exchange(terms, seq)


def ids(searcher: LexicalSearcher, text: str, count: int = 20) -> list[int]:
    """Returns the ids found, best first."""
    return list(searcher.search(searcher.analyse(text), count))


@pytest.fixture(scope="module")
def french(tmp_path_factory: pytest.TempPathFactory) -> LexicalSearcher:
    """A searcher over the French passages."""
    entries = [entry(passage_id, text) for passage_id, text in FRENCH.items()]
    return index_of(tmp_path_factory.mktemp("french"), entries).searcher()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("eau", 1),
        ("l'eau", 1),
        ("L’EAU", 1),
        ("d'eau", 1),
        ("évian", 1),
        ("EVIAN", 1),
        ("cœur", 2),
        ("coeur", 2),
        ("COEUR", 2),
        ("ingénieur", 3),
        ("ingenieur", 3),
        ("INGÉNIEURS", 3),
        ("inge\u0301nieur", 3),
        ("BL-2024-117", 4),
        ("bl-2024-117", 4),
        ("C++", 5),
        ("3.14", 6),
        ("n'est pas", 7),
        ("烤鸭", 8),
        ("北京", 8),
    ],
)
def test_french_queries_find_their_passage(
    french: LexicalSearcher, query: str, expected: int
) -> None:
    """Apostrophes, accents, ligatures, case, exact tokens and CJK: each finds what it should."""
    assert ids(french, query)[0] == expected


@pytest.mark.parametrize("query", ["xyzzyq", "blorf zimpel", "le la les", "?!…", '"title:eau"~~'])
def test_nonsense_finds_nothing(french: LexicalSearcher, query: str) -> None:
    """No hit has score 0, and query syntax means nothing."""
    hits = french.search(french.analyse(query), 20)

    assert hits.keys() <= {1}
    assert "eau" in query or not hits


def test_syntax_characters_of_a_user_are_plain_text(french: LexicalSearcher) -> None:
    """Operators, fields, ranges and wild cards neither raise nor match everything."""
    for query in ("body:*", "* AND NOT eau", "id:[1 TO 9]", "a^2 OR (", "\\", "-moteur +acier"):
        found = ids(french, query)
        assert len(found) < len(FRENCH)
    assert set(ids(french, "-moteur +acier")) == {2}


def test_title_and_keywords_count_more_than_the_body(tmp_path: Path) -> None:
    """The same word weighs most in a title or heading, then in keywords, then in the text."""
    entries = [entry(n, "autre chose ici") for n in range(10, 40)] + [
        entry(1, "transport de fret"),
        entry(2, "autre chose ici", keywords=("fret", "port")),
        entry(3, "autre chose ici", title="fret"),
        entry(4, "autre chose ici", heading_path=("Introduction", "quai")),
    ]
    searcher = index_of(tmp_path, entries).searcher()

    assert ids(searcher, "fret") == [3, 2, 1]
    assert ids(searcher, "quai") == [4]


def test_a_boost_of_zero_leaves_the_field_out(tmp_path: Path) -> None:
    """A field without weight finds nothing."""
    entries = [entry(1, "texte", title="fret")]

    assert ids(index_of(tmp_path, entries, title_boost=0.0).searcher(), "fret") == []


def test_equal_scores_are_ordered_by_id(tmp_path: Path) -> None:
    """Also where more of them exist than are asked for."""
    entries = [entry(passage_id, "eau claire") for passage_id in (5, 3, 9, 1, 7)]
    searcher = index_of(tmp_path, entries).searcher()

    assert ids(searcher, "eau", 3) == [1, 3, 5]


def test_auto_uses_the_analysis_of_the_document_language(tmp_path: Path) -> None:
    """An English and a French passage are each found by other forms of their own language."""
    entries = [
        entry(1, "The shipments were delayed by storms", language="en"),
        entry(2, "Les livraisons étaient retardées par la tempête", language="fr"),
        entry(3, "Our invoices are paid within thirty days of delivery"),
    ]
    searcher = index_of(tmp_path, entries, WorkspaceLanguage.AUTO).searcher()

    assert ids(searcher, "delaying shipment") == [1]
    assert ids(searcher, "livraison retardée") == [2]
    assert ids(searcher, "paying invoice")[0] == 3


def test_scores_of_given_passages_equal_those_of_the_list(french: LexicalSearcher) -> None:
    """The score does not depend on how it was asked for; a passage without a term has none."""
    query = french.analyse("le moteur de l'ingénieur en acier à l'entrepôt")
    listed = french.search(query, 20)
    scores = french.scores(query, [1, 2, 3])

    assert set(listed) >= {2, 3}
    assert scores == {
        passage_id: pytest.approx(score)
        for passage_id, score in listed.items()
        if passage_id in (1, 2, 3)
    }


def test_search_where_looks_on_until_it_has_enough(tmp_path: Path) -> None:
    """The only accepted passages are the worst of many."""
    entries = [entry(n, "eau " * (1 if n > 195 else 5) + "terme") for n in range(1, 200)]
    searcher = index_of(tmp_path, entries).searcher()
    hits = searcher.search_where(searcher.analyse("eau"), 3, lambda found: found > 195)

    assert sorted(hits) == [196, 197, 198]


def test_statistics_follow_deletions_after_compaction(tmp_path: Path) -> None:
    """After half is deleted, scores equal those of an index that never held it."""
    kept = [entry(n, f"eau de source numéro {n}") for n in range(1, 21)]
    gone = [entry(n, f"eau de mer salée {n}") for n in range(21, 41)]
    index = index_of(tmp_path, [*kept, *gone])
    index.apply([one.passage_id for one in gone], [])
    index.commit(2)
    due = index.compaction_due()
    distorted = index.searcher().scores(index.searcher().analyse("source"), [3])
    compact(index, kept, seq=2)
    compacted = index.searcher()
    fresh = index_of(tmp_path / "fresh", kept).searcher()

    assert due
    assert not index.compaction_due()
    for text in ("source", "eau numéro 3"):
        expected = list(fresh.search(fresh.analyse(text), 40).items())
        found = list(compacted.search(compacted.analyse(text), 40).items())
        assert found == expected
    assert distorted != fresh.scores(fresh.analyse("source"), [3])


def test_an_entry_replaces_the_earlier_one(tmp_path: Path) -> None:
    """The old words of a passage find it no more, and it counts once."""
    index = index_of(tmp_path, [entry(1, "ancien texte")])
    index.apply([], [entry(1, "nouveau texte")])
    index.commit(2)
    searcher = index.searcher()

    assert (ids(searcher, "ancien"), ids(searcher, "nouveau"), len(searcher)) == ([], [1], 1)


def test_deletions_work_after_a_rebuild(tmp_path: Path) -> None:
    """What was built aside can be deleted and replaced like anything else."""
    entries = [entry(n, f"eau numéro {n}") for n in range(1, 6)]
    index = index_of(tmp_path, entries)
    compact(index, entries, seq=2)
    index.apply([1, 2], [entry(3, "feu")])
    index.commit(3)
    searcher = index.searcher()

    assert ids(searcher, "eau") == [4, 5]
    assert ids(searcher, "feu") == [3]


def test_only_fields_that_hold_a_term_are_asked(tmp_path: Path) -> None:
    """The score of a hit is the sum over the fields where the term stands; a term that comes into
    another field later is found there by later searchers, and earlier ones answer as before."""
    index = index_of(tmp_path, [entry(1, "eau claire"), entry(2, "feu", title="incendie")])
    earlier = index.searcher()
    query = earlier.analyse("eau incendie absent")
    before = earlier.search(query, 5)
    index.apply([], [entry(3, "terre", title="eau")])
    index.commit(2)

    assert query.terms == ("eau", "incend")
    assert earlier.search(earlier.analyse("eau incendie absent"), 5) == before
    assert sorted(ids(index.searcher(), "eau")) == [1, 3]
