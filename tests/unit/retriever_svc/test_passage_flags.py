"""What is kept of passages that cut a word, and of vectors that are means of slices."""

from dataclasses import replace

from retriever_svc.engine import RetrievalEngine
from tests.fakes.retrieval import OTHER_SPACE, SPACE, passage_vectors, upsert

ROWS = [[1.0, 0, 0, 0], [0, 1.0, 0, 0]]


async def sliced_spaces(engine: RetrievalEngine) -> list[tuple[str, ...]]:
    """Returns for each passage of document a the spaces whose vector is a mean of slices."""
    stored = await engine.get_document("docs", "a", include_passages=True)
    return [passage.sliced_space_ids for passage in stored.passages]


async def test_a_vector_of_slices_stays_marked_as_long_as_it_is_kept(
    engine: RetrievalEngine,
) -> None:
    """The mark goes with the vector: moved, copied to a changed text, and gone once replaced."""
    both = [
        passage_vectors(ROWS[:2], sliced=[1]),
        passage_vectors([ROWS[0]], OTHER_SPACE, positions=[1]),
    ]
    await engine.upsert_document(upsert("a", ["eau", "feu"], vectors=both))
    first = await sliced_spaces(engine)
    await engine.upsert_document(upsert("a", ["feu", "eau"], title="moved"))
    moved = await sliced_spaces(engine)
    hashes = ["hash of feu", "hash of eau"]
    await engine.upsert_document(upsert("a", ["Feu", "eau"], hashes=hashes, title="copied"))
    copied = await sliced_spaces(engine)
    again = [passage_vectors(ROWS[:2])]
    await engine.upsert_document(upsert("a", ["Feu", "eau"], hashes=hashes, vectors=again))

    assert first == [(), (SPACE,)]
    assert moved == copied == [(SPACE,), ()]
    assert await sliced_spaces(engine) == [(), ()]


async def test_a_passage_that_cuts_a_word_says_so(engine: RetrievalEngine) -> None:
    """It is read as it was given, and no longer once the document is cut elsewhere."""
    given = upsert("a", ["xxxx", "xx", "eau"], content_hash="1")
    cut = tuple(replace(one, cuts_token=one.chunk_index < 2) for one in given.passages)
    await engine.upsert_document(replace(given, passages=cut))
    stored = await engine.get_document("docs", "a", include_passages=True)
    await engine.upsert_document(upsert("a", ["xxxx", "xx", "eau"], content_hash="2"))
    after = await engine.get_document("docs", "a", include_passages=True)

    assert [passage.passage.cuts_token for passage in stored.passages] == [True, True, False]
    assert not any(passage.passage.cuts_token for passage in after.passages)
