"""What embedding takes and gives, whichever provider does it."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from chassis.errors import Unavailable

Vectors = NDArray[np.float32]


class EmbeddingPurpose(Enum):
    """What a vector is for; it decides the words a model sees before the text."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What became of one text.

    `token_count` is that of the whole text with its prefix, before any cut; `sliced` says that
    the text was longer than the model's input and that its vector is an average of slices;
    `cached` that no model read it this time. `failure` tells why the provider cannot embed this
    text, though it embeds others; it is empty if the text has a vector.
    """

    token_count: int
    token_count_estimated: bool = False
    sliced: bool = False
    cached: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedBatch:
    """Vectors (n x d, float32, C order) and what became of each of the n texts.

    Rows have norm 1; that of a text that failed is zero.
    """

    vectors: Vectors
    texts: tuple[EmbeddedText, ...]

    @property
    def token_count(self) -> int:
        """Tokens of all texts together that a model has read for this batch."""
        return sum(text.token_count for text in self.texts if not text.cached)


def unit_vectors(block: NDArray[np.floating], count: int, dimension: int) -> Vectors:
    """Returns the rows of a provider's answer with norm 1, as count x dimension float32, C order.

    Raises Unavailable with the reason UNUSABLE_VECTORS if there are more or fewer rows, if they
    have another width, or if one of them holds no direction (not finite, or zero).
    """
    if block.shape != (count, dimension):
        raise _unusable(f"{block.shape} numbers instead of {(count, dimension)}")
    wide = block.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1)
    unusable = np.flatnonzero(~np.isfinite(norms) | (norms == 0.0))
    if unusable.size:
        raise _unusable(f"a vector of norm {norms[unusable[0]]} for text {unusable[0]}")
    return np.ascontiguousarray(wide / norms[:, None], dtype=np.float32)


def _unusable(what: str) -> Unavailable:
    return Unavailable(f"the model returned {what}", reason="UNUSABLE_VECTORS")
