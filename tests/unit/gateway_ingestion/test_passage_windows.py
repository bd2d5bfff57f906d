"""Windows are embedded beside new vectors, in the same space."""

import numpy as np
import pytest

from gateway.documents import Passage, VectorBlock
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.embedding_calls import BatchLimits, EmbeddingCalls
from gateway.ingestion.passage_vectors import NewVectors
from gateway.ingestion.passage_windows import PassageWindows, WindowChoice
from tests.fakes.chained_embedder import FIRST, SECOND, ChainedEmbedder

LONG = "Un. Deux. Trois."
SHORT = "Un. Deux."


def passages_of(*texts: str, title: str = "") -> list[CutPassage]:
    """Passages of these texts."""
    return [CutPassage(Passage(at, text), text, 0, 0, title=title) for at, text in enumerate(texts)]


def vectors_at(*positions: int, space_id: str = FIRST) -> NewVectors:
    """New vectors of these passages."""
    rows = np.eye(max(len(positions), 4), 4, dtype=np.float32)[: len(positions)]
    return NewVectors(space_id, VectorBlock(space_id, rows, positions))


def windows(
    embedder: ChainedEmbedder,
    choice: WindowChoice = WindowChoice.AUTO,
    limits: BatchLimits | None = None,
) -> PassageWindows:
    """What is tested, over an embedder."""
    return PassageWindows(EmbeddingCalls(embedder, limits), choice)


@pytest.fixture
def embedder() -> ChainedEmbedder:
    """Two providers that work and recommend windows."""
    return ChainedEmbedder(windows_recommended=True)


async def test_new_vectors_get_the_windows_of_their_passages(embedder: ChainedEmbedder) -> None:
    """In the space of the vectors, the title in front; a short passage and a kept one get none."""
    new = await windows(embedder).added_to(
        vectors_at(0, 1, space_id=SECOND),
        passages_of(LONG, SHORT, "Kept. " * 5, title="Titre"),
        "w",
    )

    assert embedder.calls == [(("Titre\nUn. Deux.", "Titre\nTrois."), SECOND)]
    assert new.block is not None
    assert new.block.window_counts == (2, 0)
    assert new.block.window_vectors is not None
    assert new.block.window_vectors.dtype == np.float32
    np.testing.assert_allclose(
        new.block.window_vectors[:, 0], np.cos([len("Titre\nUn. Deux."), len("Titre\nTrois.")])
    )
    assert new.windowless_count == 0


async def test_rows_name_passages_by_position(embedder: ChainedEmbedder) -> None:
    """Where only the last passage is new, its windows are asked for."""
    new = await windows(embedder).added_to(
        vectors_at(2), passages_of("A. " * 9, "B. " * 9, LONG), "w"
    )

    assert embedder.embedded() == ["Un. Deux.", "Trois."]
    assert new.block is not None
    assert new.block.window_counts == (2,)


async def test_equal_windows_are_embedded_once(embedder: ChainedEmbedder) -> None:
    """Both passages get the vectors, in calls of bounded size and number."""
    limits = BatchLimits(texts=1, calls=1)
    new = await windows(embedder, limits=limits).added_to(
        vectors_at(0, 1), passages_of(LONG, LONG), "w"
    )

    assert embedder.embedded() == ["Un. Deux.", "Trois."]
    assert embedder.most_at_once == 1
    assert new.block is not None
    assert new.block.window_counts == (2, 2)


@pytest.mark.parametrize(
    ("choice", "recommended", "count"),
    [
        (WindowChoice.AUTO, True, 1),
        (WindowChoice.AUTO, False, 0),
        (WindowChoice.ALWAYS, False, 1),
        (WindowChoice.OFF, True, 0),
    ],
)
async def test_the_choice_decides_where_windows_are_made(
    embedder: ChainedEmbedder, choice: WindowChoice, recommended: bool, count: int
) -> None:
    """Left alone, the provider's advice counts."""
    embedder.windows_recommended = recommended

    new = await windows(embedder, choice).added_to(vectors_at(0), passages_of(LONG), "w")

    assert len(embedder.calls) == count
    assert new.windowless_count == 0
    assert new.block is not None
    assert bool(new.block.window_counts) == bool(count)


async def test_passages_without_windows_are_counted_too(embedder: ChainedEmbedder) -> None:
    """A count of 0 says that nobody has to look at them again."""
    new = await windows(embedder).added_to(vectors_at(0), passages_of(SHORT), "w")

    assert embedder.calls == []
    assert new.block is not None
    assert new.block.window_counts == (0,)
    assert new.block.window_vectors is not None
    assert new.block.window_vectors.shape == (0, 4)


async def test_without_new_vectors_nothing_is_asked(embedder: ChainedEmbedder) -> None:
    """What is kept keeps its windows."""
    nothing = NewVectors()

    assert await windows(embedder).added_to(nothing, passages_of(LONG), "w") is nothing
    assert embedder.calls == []


async def test_a_lost_embedder_costs_the_windows_alone(embedder: ChainedEmbedder) -> None:
    """All passages await them, so that they can follow; the count is told."""
    embedder.lasts = {FIRST: 1}
    limits = BatchLimits(texts=2, calls=1)

    new = await windows(embedder, limits=limits).added_to(
        vectors_at(0, 1), passages_of(LONG, "Quatre. Cinq. Six."), "w"
    )

    assert new.block is not None
    assert new.block.window_counts == ()
    assert new.block.window_vectors is None
    assert new.windowless_count == 2
    assert new.window_failure == "no provider answers"


async def test_a_refused_window_costs_itself_alone(embedder: ChainedEmbedder) -> None:
    """The passage keeps its other windows, and no row of zeros is stored."""
    embedder.refused = {"Trois"}

    new = await windows(embedder).added_to(vectors_at(0), passages_of(LONG), "w")

    assert new.block is not None
    assert new.block.window_counts == (1,)
    assert new.block.window_vectors is not None
    assert new.block.window_vectors.any(axis=1).all()
    assert new.windowless_count == 1
    assert new.window_failure == "Trois. cannot be embedded"
