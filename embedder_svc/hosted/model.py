"""What is known of a hosted model and of the API that serves it, as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.answers import Rows
from embedder_svc.prefixes import NO_PREFIXES, Prefixes
from embedder_svc.price import Price
from embedder_svc.spaces import VectorSpace


@dataclass(frozen=True, slots=True)
class HostedModel:
    """A model and its limits.

    `input_tokens` is the longest input; `request_texts` and `request_tokens` bound one request,
    with a margin, since tokens are estimated by `tokens_per_character`. `price` is None where it
    is unknown. `prefixes` are put before a text here, not by the vendor; `prefix_scheme` names
    them, or the vendor's own, in the space. Texts above `alone_above_tokens` travel alone.
    """

    name: str
    dimension: int
    input_tokens: int
    tokens_per_character: float
    request_texts: int
    request_tokens: int
    price: Price | None = None
    prefixes: Prefixes = NO_PREFIXES
    prefix_scheme: str = "none"
    revision: str = "1"
    alone_above_tokens: int | None = None

    def space(self, provider: str) -> VectorSpace:
        """Returns the space of its vectors when this provider serves it."""
        return VectorSpace(
            provider, self.name, self.revision, self.dimension, "l2", self.prefix_scheme
        )


@dataclass(frozen=True, slots=True)
class WireFormat:
    """How a vendor is asked, and how its answer is read.

    `body` makes the JSON of a request; `rows` reads that of an answer to so many texts. With
    `count_shows_cut`, a token count at the model's limit means that the vendor cut the text.
    """

    path: str
    body: Callable[[Sequence[str], EmbeddingPurpose], dict[str, Any]]
    rows: Callable[[str, Any, int], Rows]
    count_shows_cut: bool = False
