"""A model from a folder: `model.onnx` and `tokenizer.json`, run by ONNX Runtime in this process.

Needs the extra `onnx`. The space names the weights by their SHA-256, and pooling and prefixes by
theirs, so that other files or other settings are another space.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from chassis.onnx_folder import OnnxFolder
from embedder_svc.embedding import EmbeddingPurpose, Vectors
from embedder_svc.prefixes import NO_PREFIXES, Prefixes
from embedder_svc.providers.in_process import InProcessProvider
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.spaces import VectorSpace

NAME = "folder"
Pooling = Literal["mean", "cls", "last"]


@dataclass(frozen=True, slots=True)
class FolderModel:
    """Where a model is and how it wants to be used.

    `pooling` makes one vector of the tokens' vectors: their mean, the first, or the last. Models
    whose output is one vector a text need none.
    """

    folder: Path
    pooling: Pooling = "mean"
    input_tokens: int = 512
    prefixes: Prefixes = NO_PREFIXES

    @property
    def scheme(self) -> str:
        """A name for pooling and prefixes."""
        return f"{self.pooling}-{self.prefixes.digest}"


class OnnxModel:
    """A FolderModel as a TextModel."""

    def __init__(self, settings: FolderModel) -> None:
        self._settings = settings
        self._model = OnnxFolder(settings.folder)

    @cached_property
    def space(self) -> VectorSpace:
        """The space of its vectors; the width is that of the model's output."""
        try:
            with self._model.model_file.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._model.unusable(error) from error
        return VectorSpace(
            NAME, self._model.name, digest[:12], self._width, "l2", self._settings.scheme
        )

    @property
    def limits(self) -> ProviderLimits:
        """As the settings say."""
        return ProviderLimits(self._settings.input_tokens, 0.3, windows_recommended=True)

    def load(self) -> None:
        """Brings the model into memory; raises Unavailable if that fails."""
        self._model.load()

    def cleaned(self, text: str) -> str:
        """Returns the text without NUL and without white space around it."""
        return text.replace("\0", " ").strip()

    def token_count(self, text: str, purpose: EmbeddingPurpose) -> int:
        """Counts exactly, prefix and special tokens included."""
        return len(self._tokens(text, purpose))

    def prefix_token_count(self, purpose: EmbeddingPurpose) -> int:
        """Counts the special tokens and those of the prefix."""
        return len(self._tokens("", purpose))

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns one row for each text; padding has no part in it."""
        rows = [self._tokens(text, purpose) for text in texts]
        return self._pooled(self._model.run(rows), [max(1, len(row)) for row in rows])

    def _tokens(self, text: str, purpose: EmbeddingPurpose) -> list[int]:
        encoding = self._model.tokenizer.encode(self._settings.prefixes.of(purpose) + text)
        return list(encoding.ids)

    def _pooled(self, states: Vectors, lengths: Sequence[int]) -> Vectors:
        if states.ndim == 2:
            return states
        if self._settings.pooling == "cls":
            return np.ascontiguousarray(states[:, 0])
        ends = np.asarray(lengths)
        if self._settings.pooling == "last":
            return np.ascontiguousarray(states[np.arange(len(states)), ends - 1])
        weights = (np.arange(states.shape[1]) < ends[:, None])[:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)

    @property
    def _width(self) -> int:
        width = self._model.session.get_outputs()[0].shape[-1]
        if not isinstance(width, int):
            raise self._model.unusable(ValueError(f"the width of its output is {width!r}"))
        return width


def model_folder_provider(settings: FolderModel) -> InProcessProvider:
    """Makes the provider; raises Unavailable if the folder holds no usable model."""
    return InProcessProvider(OnnxModel(settings))
