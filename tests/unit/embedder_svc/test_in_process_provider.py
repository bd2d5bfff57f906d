"""A model in this process: order, slices, and queries beside documents."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from embedder_svc.embedding import EmbeddedBatch, EmbeddingPurpose, Vectors, unit_vectors
from embedder_svc.providers.deterministic import HashingModel
from embedder_svc.providers.in_process import STEP_TOKENS, InProcessProvider
from tests.fakes.embedding_providers import GatedModel

QUERY = EmbeddingPurpose.QUERY
DOCUMENT = EmbeddingPurpose.DOCUMENT
LONG = " ".join(f"mot{number}" for number in range(STEP_TOKENS))


@pytest.fixture
def model() -> GatedModel:
    """A model that waits at its gate."""
    return GatedModel()


@pytest.fixture
async def provider(model: GatedModel) -> AsyncIterator[InProcessProvider]:
    """A provider over the gated model; the gate is opened at the end."""
    provider = InProcessProvider(model)
    yield provider
    model.gate.set()
    await provider.close()


async def embed_documents(
    provider: InProcessProvider, model: GatedModel, texts: Sequence[str]
) -> asyncio.Task[EmbeddedBatch]:
    """Begins a batch of documents and waits until the model has its first texts."""
    task = asyncio.create_task(provider.embed(texts, DOCUMENT, None))
    assert await asyncio.to_thread(model.entered.wait, 60)
    return task


async def test_queries_wait_for_no_document(provider: InProcessProvider, model: GatedModel) -> None:
    """A query reaches the model while a document is still at work there."""
    batch = await embed_documents(provider, model, [LONG, LONG])
    model.entered.clear()

    query = asyncio.create_task(provider.embed(["une question"], QUERY, None))
    assert await asyncio.to_thread(model.entered.wait, 60)

    assert model.encoded == [[LONG], ["une question"]]
    assert not batch.done()
    model.gate.set()
    await asyncio.gather(batch, query)
    assert model.encoded[2:] == [[LONG]]


async def test_a_cancelled_batch_frees_its_work(
    provider: InProcessProvider, model: GatedModel
) -> None:
    """After the caller has gone, only the group at work is finished."""
    batch = await embed_documents(provider, model, [LONG, LONG, LONG])

    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    model.gate.set()
    await provider.embed(["après"], DOCUMENT, None)

    assert model.encoded == [[LONG], ["apres"]]


async def test_the_event_loop_is_free_while_the_model_works(
    provider: InProcessProvider, model: GatedModel
) -> None:
    """Other tasks run to their end although the model has not answered."""
    batch = await embed_documents(provider, model, ["texte"])

    others = await asyncio.gather(*(asyncio.sleep(0, result=number) for number in range(10)))

    assert others == list(range(10))
    assert not batch.done()


async def test_a_passed_deadline_ends_a_batch_between_steps(
    provider: InProcessProvider, model: GatedModel
) -> None:
    """Nothing is embedded for a caller whose time is over."""
    now = [0.0]
    deadline = Deadline.after(10, clock=lambda: now[0])
    batch = asyncio.create_task(provider.embed([LONG, LONG], DOCUMENT, deadline))
    assert await asyncio.to_thread(model.entered.wait, 60)
    now[0] = 11.0
    model.gate.set()

    with pytest.raises(DeadlineExceeded):
        await batch

    assert model.encoded == [[LONG]]


async def test_rows_keep_the_order_of_the_texts(
    provider: InProcessProvider, model: GatedModel
) -> None:
    """Whatever shares a step, row i is the vector of text i."""
    model.gate.set()
    texts = [f"{LONG if number % 3 == 0 else ''} texte {number}" for number in range(20)]

    batch = await provider.embed(texts, DOCUMENT, None)

    assert batch.vectors.shape == (20, 64)
    assert batch.vectors.dtype == np.float32
    assert batch.vectors.flags.c_contiguous
    for row, text in zip(batch.vectors, texts, strict=True):
        alone = await provider.embed([text], QUERY, None)
        assert np.array_equal(row, alone.vectors[0])


async def test_short_texts_share_a_step(provider: InProcessProvider, model: GatedModel) -> None:
    """Groups are filled up to the tokens of a step, and no further."""
    model.gate.set()
    texts = [" ".join(["mot"] * 50)] * 5

    await provider.embed(texts, DOCUMENT, None)

    assert [len(group) for group in model.encoded] == [2, 2, 1]
    assert STEP_TOKENS == 128


async def test_a_long_text_is_the_weighted_average_of_its_slices() -> None:
    """Slices count by their tokens; the count told is that of the whole text."""
    provider = InProcessProvider(model := GatedModel(input_tokens=4))
    model.gate.set()

    batch = await provider.embed(["un deux trois quatre cinq six", "sept"], DOCUMENT, None)
    await provider.close()

    plain = HashingModel()
    first, second = unit_vectors(
        plain.encode(["un deux trois quatre", "cinq six"], DOCUMENT), 2, 64
    )
    expected = 4 * first + 2 * second
    assert [text.sliced for text in batch.texts] == [True, False]
    assert [text.token_count for text in batch.texts] == [6, 1]
    assert batch.token_count == 7
    np.testing.assert_allclose(
        batch.vectors[0], expected / np.linalg.norm(expected), rtol=0, atol=1e-6
    )


class MuteModel(HashingModel):
    """A model that returns zeros, as a damaged one may."""

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns rows without a direction."""
        return np.zeros((len(texts), 64), dtype=np.float32)


class UnloadableModel(HashingModel):
    """A model that cannot be loaded."""

    def load(self) -> None:
        """Fails."""
        raise Unavailable("no weights")


async def test_check_tells_whether_the_model_can_embed() -> None:
    """A model that does not load, or that returns nothing usable, does not pass its check."""
    for model, problem in ((MuteModel(), "norm 0"), (UnloadableModel(), "no weights")):
        provider = InProcessProvider(model)
        with pytest.raises(Unavailable, match=problem):
            await provider.check()
        await provider.close()

    provider = InProcessProvider(HashingModel())
    await provider.check()
    await provider.close()


@pytest.mark.parametrize(
    "block",
    [
        np.ones((2, 3)),
        np.ones((1, 4)),
        np.ones(4),
        np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]),
        np.array([[1.0, 0, 0, 0], [np.nan, 0, 0, 0]]),
        np.array([[1.0, 0, 0, 0], [np.inf, 0, 0, 0]]),
    ],
    ids=["width", "count", "rank", "zero", "nan", "infinite"],
)
def test_unusable_vectors_are_refused(block: np.ndarray) -> None:
    """Nothing without a direction, and nothing of another shape, passes for a vector."""
    with pytest.raises(Unavailable) as caught:
        unit_vectors(block, 2, 4)

    assert caught.value.reason == "UNUSABLE_VECTORS"


def test_unit_vectors_have_norm_one() -> None:
    """Rows keep their direction, also very long and very short ones."""
    block = np.array([[3.0, 4.0], [1e-30, 0.0], [-1e30, 1e30]])

    rows = unit_vectors(block, 3, 2)

    expected = [[0.6, 0.8], [1.0, 0.0], [-(0.5**0.5), 0.5**0.5]]
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
