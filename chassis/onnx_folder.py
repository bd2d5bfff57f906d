"""A folder with `model.onnx` and `tokenizer.json`, run by ONNX Runtime in this process.

Needs the extra `onnx`. Both files are loaded when they are first asked for, which may take long:
off the event loop. Safe to share between threads once `load` has returned.
"""

import importlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chassis.errors import Unavailable

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxFolder:
    """A model and its tokenizer; what cannot be used raises Unavailable, with the folder named."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loading = threading.Lock()

    @property
    def model_file(self) -> Path:
        """The weights."""
        return self.folder / "model.onnx"

    @property
    def name(self) -> str:
        """The folder's own name, as far as it is made of letters, digits, hyphens, underscores."""
        return "".join(c for c in self.folder.resolve().name if c.isalnum() or c in "-_") or "model"

    def load(self) -> None:
        """Brings the model into memory."""
        with self._loading:
            _ = self.session, self.tokenizer

    def run(
        self, rows: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
    ) -> NDArray[np.float32]:
        """Returns the model's first output for rows of token ids, padded at their ends.

        `types` are the token types, 0 where not given. Inputs that the model does not name are
        left out.
        """
        width = max(1, *map(len, rows))
        ids = np.full((len(rows), width), self._padding_id, dtype=np.int64)
        mask = np.zeros_like(ids)
        type_ids = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
            if types is not None:
                type_ids[at, : len(row)] = types[at]
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": type_ids}
        wanted = {each.name: given[each.name] for each in self.session.get_inputs()}
        return np.asarray(self.session.run(None, wanted)[0], dtype=np.float32)

    @cached_property
    def session(self) -> Any:
        """The model, on one thread of the CPU."""
        runtime = _extra("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            session = runtime.InferenceSession(
                str(self.model_file), options, providers=["CPUExecutionProvider"]
            )
        # ONNX Runtime raises classes of its own, derived from nothing in particular.
        except Exception as error:
            raise self.unusable(error) from error
        unknown = {each.name for each in session.get_inputs()} - _INPUTS
        if unknown:
            raise self.unusable(ValueError(f"unknown inputs: {', '.join(sorted(unknown))}"))
        return session

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, which neither cuts nor pads."""
        try:
            tokenizer = _extra("tokenizers").Tokenizer.from_file(
                str(self.folder / "tokenizer.json")
            )
        except Unavailable:
            raise
        # tokenizers raises Exception itself.
        except Exception as error:
            raise self.unusable(error) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _padding_id(self) -> int:
        """The token that RoBERTa's kind leaves out when it counts positions; 0 if there is none."""
        found = map(self.tokenizer.token_to_id, ("[PAD]", "<pad>"))
        return next((token_id for token_id in found if token_id is not None), 0)

    def unusable(self, error: Exception) -> Unavailable:
        """Says that the folder is no use, why, and what it must hold."""
        return Unavailable(
            f"the model in {self.folder} cannot be used ({error}); the folder must hold "
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
