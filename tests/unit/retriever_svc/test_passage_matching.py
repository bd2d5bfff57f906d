"""Which stored passages live on when a document is replaced."""

from hypothesis import given
from hypothesis import strategies as st

from retriever_svc.documents import Passage
from retriever_svc.store.passage_matching import PassageMatch, StoredText, match_passages

words = st.sampled_from(["a", "b", "c", ""])
stored_texts = st.lists(st.tuples(words, words), max_size=6).map(
    lambda rows: [StoredText(i + 1, text, digest) for i, (text, digest) in enumerate(rows)]
)
new_passages = st.lists(st.tuples(words, words), max_size=6).map(
    lambda rows: [
        Passage(i, text, embedded_text_hash=digest) for i, (text, digest) in enumerate(rows)
    ]
)


def test_an_unchanged_passage_keeps_id_and_vectors() -> None:
    """Equal text and equal embedded text: everything stays."""
    matches = match_passages(
        [StoredText(4, "eau", "h1")], [Passage(0, "eau", embedded_text_hash="h1")]
    )

    assert matches == [PassageMatch(4, 4)]


def test_a_new_title_keeps_the_id_and_drops_the_vectors() -> None:
    """The text is the same, but what was embedded is not."""
    matches = match_passages(
        [StoredText(4, "eau", "h1")], [Passage(0, "eau", embedded_text_hash="h2")]
    )

    assert matches == [PassageMatch(4, None)]


def test_a_moved_passage_is_recognised() -> None:
    """Order does not matter for identity."""
    matches = match_passages(
        [StoredText(1, "eau", "e"), StoredText(2, "feu", "f")],
        [Passage(0, "feu", embedded_text_hash="f"), Passage(1, "eau", embedded_text_hash="e")],
    )

    assert [match.passage_id for match in matches] == [2, 1]


def test_a_doubled_passage_takes_a_copy_of_the_vectors() -> None:
    """Two new passages of the text of one: the first keeps the id, the second copies vectors."""
    matches = match_passages(
        [StoredText(1, "eau", "e")],
        [Passage(0, "eau", embedded_text_hash="e"), Passage(1, "eau", embedded_text_hash="e")],
    )

    assert matches == [PassageMatch(1, 1), PassageMatch(None, 1)]


def test_an_empty_hash_equals_nothing() -> None:
    """Without a fingerprint nobody knows whether a vector still fits."""
    assert match_passages([StoredText(1, "eau", "")], [Passage(0, "eau")]) == [
        PassageMatch(1, None)
    ]


@given(stored_texts, new_passages)
def test_no_id_lives_on_twice_and_only_with_its_text(
    stored: list[StoredText], new: list[Passage]
) -> None:
    """Ids are handed on at most once, and never to another text."""
    texts = {old.passage_id: old.text for old in stored}
    kept = [match.passage_id for match in match_passages(stored, new) if match.passage_id]

    assert len(kept) == len(set(kept))
    for passage, match in zip(new, match_passages(stored, new), strict=True):
        if match.passage_id is not None:
            assert texts[match.passage_id] == passage.text


@given(stored_texts, new_passages)
def test_vectors_only_come_from_equal_embedded_text(
    stored: list[StoredText], new: list[Passage]
) -> None:
    """A vector of another text would be found for the wrong question."""
    hashes = {old.passage_id: old.embedded_text_hash for old in stored}
    for passage, match in zip(new, match_passages(stored, new), strict=True):
        if match.vector_source is not None:
            assert hashes[match.vector_source] == passage.embedded_text_hash != ""
        elif passage.embedded_text_hash:
            assert passage.embedded_text_hash not in hashes.values()
