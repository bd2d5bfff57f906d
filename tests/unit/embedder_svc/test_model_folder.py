"""A model from a folder: pooling, prefixes, slices, and words for a folder that is no use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from chassis.errors import Unavailable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.prefixes import Prefixes
from embedder_svc.providers.catalogue import configured_providers
from embedder_svc.providers.model_folder import FolderModel, Pooling, model_folder_provider
from embedder_svc.settings import EmbedderSettings

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
pytest.importorskip("onnx")

from tests.fakes.model_folder import TABLE, WORDS, write_model

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
E5_PREFIXES = Prefixes("query: ", "passage: ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the tiny model."""
    path = tmp_path / "tiny-model"
    path.mkdir()
    write_model(path)
    return path


def rows_of(text: str) -> np.ndarray:
    """Returns the token vectors of a text, special tokens included."""
    return TABLE[[WORDS.index(word) for word in f"[CLS] {text} [SEP]".split()]]


POOLED: dict[Pooling, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda rows: np.asarray(rows.mean(axis=0)),
    "cls": lambda rows: np.asarray(rows[0]),
    "last": lambda rows: np.asarray(rows[-1]),
}


def assert_same_direction(vector: np.ndarray, expected: np.ndarray) -> None:
    """Both must point the same way; the first has norm 1."""
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


@pytest.mark.parametrize("pooling", list(POOLED))
async def test_token_vectors_are_pooled_as_told(folder: Path, pooling: Pooling) -> None:
    """Texts of different lengths share a batch; padding changes nothing."""
    provider = model_folder_provider(FolderModel(folder, pooling, prefixes=E5_PREFIXES))
    await provider.check()
    documents = await provider.embed(["prix de gaz", "eau"], DOCUMENT, None)
    query = await provider.embed(["prix"], QUERY, None)
    await provider.close()

    pool = POOLED[pooling]
    assert_same_direction(documents.vectors[0], pool(rows_of("passage: prix de gaz")))
    assert_same_direction(documents.vectors[1], pool(rows_of("passage: eau")))
    assert_same_direction(query.vectors[0], pool(rows_of("query: prix")))
    assert [text.token_count for text in documents.texts] == [6, 4]


async def test_a_model_that_pools_itself_needs_no_pooling(folder: Path) -> None:
    """One vector a text is taken as it is."""
    write_model(folder, pooled=True)
    provider = model_folder_provider(FolderModel(folder))
    batch = await provider.embed(["prix de gaz"], DOCUMENT, None)
    await provider.close()

    assert_same_direction(batch.vectors[0], rows_of("prix de gaz").sum(axis=0))


async def test_long_texts_are_sliced(folder: Path) -> None:
    """The vector is the average of the slices, weighted by their own tokens."""
    provider = model_folder_provider(FolderModel(folder, input_tokens=5))
    batch = await provider.embed(["prix de gaz eau"], DOCUMENT, None)
    await provider.close()

    first, second = (POOLED["mean"](rows_of(text)) for text in ("prix de gaz", "eau"))
    expected = 3 * first / np.linalg.norm(first) + second / np.linalg.norm(second)
    assert batch.texts[0].sliced
    assert_same_direction(batch.vectors[0], expected)


def test_files_pooling_and_prefixes_are_part_of_the_space(folder: Path) -> None:
    """Whatever changes the vectors changes the space."""
    plain = model_folder_provider(FolderModel(folder)).space
    others = [
        model_folder_provider(FolderModel(folder, "cls")).space,
        model_folder_provider(FolderModel(folder, prefixes=E5_PREFIXES)).space,
    ]
    write_model(folder, pooled=True)
    others.append(model_folder_provider(FolderModel(folder)).space)

    assert plain.id.startswith("folder/tiny-model@")
    assert plain.id.endswith("/4/l2/mean-none")
    assert len({plain, *others}) == 4


@pytest.mark.parametrize("damage", ["missing", "weights", "tokenizer", "input"])
def test_an_unusable_folder_is_told_in_words(folder: Path, damage: str) -> None:
    """The folder is named, and what it must hold."""
    if damage == "missing":
        (folder / "model.onnx").unlink()
    elif damage == "weights":
        (folder / "model.onnx").write_bytes(b"no model")
    elif damage == "tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    else:
        write_model(folder, extra_input="pixel_values")

    with pytest.raises(Unavailable, match=r"tiny-model.*tokenizer\.json") as caught:
        model_folder_provider(FolderModel(folder))._model.load()

    assert caught.value.reason == "MODEL_NOT_LOADED"


async def test_the_settings_name_the_folder(folder: Path) -> None:
    """Path, pooling and prefixes are settings."""
    settings = EmbedderSettings(
        providers=("folder",),
        folder_path=folder,
        folder_pooling="cls",
        folder_query_prefix="query: ",
        folder_document_prefix="passage: ",
    )

    [provider] = configured_providers(settings)

    assert (
        provider.space == model_folder_provider(FolderModel(folder, "cls", 512, E5_PREFIXES)).space
    )
