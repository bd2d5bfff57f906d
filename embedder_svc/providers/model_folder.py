"""A model from a folder: `model.onnx` and `tokenizer.json`, run by ONNX Runtime in this process.

Needs the extra `onnx`. The space names the weights by their SHA-256, and pooling and prefixes by
theirs, so that other files or other settings are another space.
"""

import hashlib
import importlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chassis.errors import Unavailable
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
        self._loading = threading.Lock()

    @cached_property
    def space(self) -> VectorSpace:
        """The space of its vectors; the width is that of the model's output."""
        weights = self._settings.folder / "model.onnx"
        try:
            with weights.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._unusable(error) from error
        model = "".join(c for c in self._settings.folder.resolve().name if c.isalnum() or c in "-_")
        return VectorSpace(
            NAME, model or "model", digest[:12], self._width, "l2", self._settings.scheme
        )

    @property
    def limits(self) -> ProviderLimits:
        """As the settings say."""
        return ProviderLimits(self._settings.input_tokens, 0.3, windows_recommended=True)

    def load(self) -> None:
        """Brings the model into memory; raises Unavailable if that fails."""
        with self._loading:
            _ = self._session, self._tokenizer

    def cleaned(self, text: str) -> str:
        """Returns the text without NUL and without white space around it."""
        return text.replace("\0", " ").strip()

    def token_count(self, text: str, purpose: EmbeddingPurpose) -> int:
        """Counts exactly, prefix and special tokens included."""
        return len(self._tokenizer.encode(self._settings.prefixes.of(purpose) + text).ids)

    def prefix_token_count(self, purpose: EmbeddingPurpose) -> int:
        """Counts the special tokens and those of the prefix."""
        return len(self._tokenizer.encode(self._settings.prefixes.of(purpose)).ids)

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns one row for each text; padding has no part in it."""
        prefix = self._settings.prefixes.of(purpose)
        tokenized = [self._tokenizer.encode(prefix + text).ids for text in texts]
        width = max(1, *map(len, tokenized))
        ids = np.zeros((len(texts), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(tokenized):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {each.name: given[each.name] for each in self._session.get_inputs()}
        return self._pooled(self._session.run(None, wanted)[0], mask)

    def _pooled(self, output: Any, mask: Any) -> Vectors:
        states = np.asarray(output, dtype=np.float32)
        if states.ndim == 2:
            return states
        if self._settings.pooling == "cls":
            return np.ascontiguousarray(states[:, 0])
        if self._settings.pooling == "last":
            return np.ascontiguousarray(states[np.arange(len(states)), mask.sum(axis=1) - 1])
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)

    @property
    def _width(self) -> int:
        width = self._session.get_outputs()[0].shape[-1]
        if not isinstance(width, int):
            raise self._unusable(ValueError(f"the width of its output is {width!r}"))
        return width

    @cached_property
    def _session(self) -> Any:
        runtime = _extra("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            session = runtime.InferenceSession(
                str(self._settings.folder / "model.onnx"),
                options,
                providers=["CPUExecutionProvider"],
            )
        # ONNX Runtime raises classes of its own, derived from nothing in particular.
        except Exception as error:
            raise self._unusable(error) from error
        unknown = {each.name for each in session.get_inputs()} - {
            "input_ids",
            "attention_mask",
            "token_type_ids",
        }
        if unknown:
            raise self._unusable(ValueError(f"unknown inputs: {', '.join(sorted(unknown))}"))
        return session

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            tokenizer = _extra("tokenizers").Tokenizer.from_file(
                str(self._settings.folder / "tokenizer.json")
            )
        except Unavailable:
            raise
        # tokenizers raises Exception itself.
        except Exception as error:
            raise self._unusable(error) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _unusable(self, error: Exception) -> Unavailable:
        return Unavailable(
            f"the model in {self._settings.folder} cannot be used ({error}); the folder must hold "
            "model.onnx and tokenizer.json",
            reason="MODEL_NOT_LOADED",
        )


def _extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Unavailable(
            f"{module} is not installed; install justesse[onnx]", reason="MODEL_NOT_LOADED"
        ) from error


def model_folder_provider(settings: FolderModel) -> InProcessProvider:
    """Makes the provider; raises Unavailable if the folder holds no usable model."""
    return InProcessProvider(OnnxModel(settings))
