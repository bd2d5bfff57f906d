"""Notices that the model behind a space is no longer the same.

A fixed text is embedded by each check. While its vector stays where it was, the vectors that are
stored are comparable with new ones. The first vector of this process is the reference; whoever
stores vectors keeps one of its own, which outlives the process, and may send it along.
"""

import numpy as np

from chassis.errors import FailedPrecondition
from embedder_svc.embedding import Vectors
from embedder_svc.spaces import VectorSpace

CANARY_TEXT = (
    "The quick brown fox jumps over the lazy dog. "
    "Portez ce vieux whisky au juge blond qui fume : 1 234,56 €."
)
LOWEST_COSINE = 0.999


class Canary:
    """What is known of one space's canary; vectors are d, float32, norm 1."""

    def __init__(self, space: VectorSpace) -> None:
        self._space = space
        self._reference: Vectors | None = None
        self._latest: Vectors | None = None

    @property
    def latest(self) -> Vectors | None:
        """The last measured vector, None before the first."""
        return self._latest

    @property
    def drifted(self) -> bool:
        """Whether the last vector is not where the first was."""
        if self._reference is None or self._latest is None:
            return False
        return not same_model(self._reference, self._latest)

    def measured(self, vector: Vectors) -> None:
        """Takes note of a new measurement."""
        self._latest = vector.copy()
        if self._reference is None:
            self._reference = self._latest

    def require_same(self, kept: Vectors | None = None) -> None:
        """Raises FailedPrecondition if the model has changed, or is not that of a kept vector.

        A kept vector is compared with the latest; before the first measurement it says nothing.
        """
        if self.drifted:
            raise self._changed("since this process began")
        if kept is not None and self._latest is not None and not same_model(kept, self._latest):
            raise self._changed("since the stored canary was measured")

    def _changed(self, since: str) -> FailedPrecondition:
        return FailedPrecondition(
            f"the model behind the space {self._space.id} has changed {since}: its vectors cannot "
            "be compared with stored ones; embed the workspace again into another space",
            reason="SPACE_DRIFTED",
        )


def same_model(one: Vectors, other: Vectors) -> bool:
    """Whether two canaries of a space are near enough to come from one model."""
    return one.shape == other.shape and float(np.dot(one, other)) >= LOWEST_COSINE
