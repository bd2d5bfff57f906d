"""A cross-encoder exported to ONNX, with its tokenizer, such as bge-reranker-v2-m3.

Each passage is read together with the question; a passage too long for the model's input is cut at
its end. Needs the extra `onnx`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chassis.errors import Unavailable
from chassis.onnx_folder import OnnxFolder

_LEAST_PASSAGE_TOKENS = 32
# Few texts have longer tokens; tokenising takes as long as the text is, so the rest is not read.
_CHARACTERS_PER_TOKEN = 16


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A question with one passage, as token ids; `types` tells the one from the other."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


class CrossEncoder:
    """Scores pairs; its methods are called on one thread.

    `input_tokens` is the model's input, `batch_tokens` the most tokens, padding included, that are
    scored at once.
    """

    def __init__(self, folder: Path, *, input_tokens: int, batch_tokens: int) -> None:
        self._model = OnnxFolder(folder)
        self._input_tokens = input_tokens
        self._batch_tokens = batch_tokens

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._model.name

    def load(self) -> None:
        """Brings the model into memory; raises Unavailable if that fails."""
        self._model.load()

    def pairs(self, question: str, texts: Sequence[str]) -> Iterator[EncodedPair]:
        """Yields the pairs, each within the model's input.

        A question that leaves the passages less than 32 tokens is cut too.
        """
        longest_question = self._input_tokens - _LEAST_PASSAGE_TOKENS
        longest_text = self._input_tokens * _CHARACTERS_PER_TOKEN
        question = self._head(question[:longest_text], max(1, longest_question))
        for text in texts:
            yield self._pair(question, text[:longest_text])

    def batches(self, pairs: Sequence[EncodedPair]) -> Iterator[list[int]]:
        """Yields the indices of the pairs in batches of similar lengths, longest first."""
        batch: list[int] = []
        width = 0
        for index in sorted(range(len(pairs)), key=lambda index: -len(pairs[index].ids)):
            width = width or len(pairs[index].ids)
            if batch and (len(batch) + 1) * width > self._batch_tokens:
                yield batch
                batch, width = [], len(pairs[index].ids)
            batch.append(index)
        if batch:
            yield batch

    def scores(self, pairs: Sequence[EncodedPair]) -> NDArray[np.float32]:
        """Returns one logit for each pair, n float32; raises Unavailable if one is not finite.

        Of a model with two classes it is that of the second less that of the first.
        """
        logits = self._model.run([pair.ids for pair in pairs], [pair.types for pair in pairs])
        logits = logits.reshape(len(pairs), -1)
        if logits.shape[1] == 2:
            logits = logits[:, 1:] - logits[:, :1]
        if logits.shape[1] != 1:
            raise self._model.unusable(
                ValueError(f"it gives {logits.shape[1]} numbers for a pair, not 1 or 2")
            )
        if not np.isfinite(logits).all():
            raise Unavailable(
                f"the model in {self._model.folder} made a score that is no finite number",
                reason="MODEL_FAILED",
            )
        return np.ascontiguousarray(logits[:, 0])

    def _head(self, text: str, tokens: int) -> str:
        encoding = self._model.tokenizer.encode(text, add_special_tokens=False)
        if len(encoding.ids) <= tokens:
            return text
        return text[: encoding.offsets[tokens - 1][1]]

    def _pair(self, question: str, text: str) -> EncodedPair:
        encoding = self._encoded(question, text)
        surplus = len(encoding.ids) - self._input_tokens
        while surplus > 0:
            # Cut by tokens of the passage alone; joined to the question they may be a few more.
            own = self._model.tokenizer.encode(text, add_special_tokens=False)
            text = self._head(text, max(1, len(own.ids) - surplus))
            encoding = self._encoded(question, text)
            if len(own.ids) <= 1:
                break
            surplus = len(encoding.ids) - self._input_tokens
        return EncodedPair(tuple(encoding.ids), tuple(encoding.type_ids))

    def _encoded(self, question: str, text: str) -> Any:
        return self._model.tokenizer.encode(question, text)
