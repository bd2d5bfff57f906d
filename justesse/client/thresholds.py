"""Rules that drop hits by a named score."""

from dataclasses import dataclass

from justesse.client.filters import Filter
from justesse.gateway.v1 import filters_pb2


@dataclass(frozen=True, slots=True)
class Threshold:
    """Drops hits whose cosine in a space misses a bound.

    A hit without any cosine is judged by the share of the question's terms that it holds; so is
    every hit where no space is named. A hit with its cosine in another space is not judged.
    """

    space_id: str = ""
    """Empty: `min_term_share` alone judges every hit."""
    min_similarity: float | None = None
    """Smallest cosine that stays, -1 to 1; needs a space, and no `max_distance`."""
    max_distance: float | None = None
    """Largest 1 - cosine that stays, 0 to 2."""
    min_term_share: float | None = None
    """Smallest share of terms that stays, 0 to 1; None for 0.25."""
    condition: Filter | None = None
    """Only hits of documents that fulfil it are judged."""
    context_field: str = ""
    """Only hits whose document's metadata of this name equals the context's are judged ..."""
    context_differs: bool = False
    """... or, with this, only those for which the two differ or one is missing."""


def threshold_message(threshold: Threshold) -> filters_pb2.Threshold:
    """Encodes a rule; ValueError where it has both bounds, of which the contract holds one."""
    if threshold.min_similarity is not None and threshold.max_distance is not None:
        raise ValueError("a threshold takes either min_similarity or max_distance, not both")
    message = filters_pb2.Threshold(
        space_id=threshold.space_id,
        min_term_share=threshold.min_term_share,
        condition=None if threshold.condition is None else threshold.condition.message,
        context_field=threshold.context_field,
        context_differs=threshold.context_differs,
    )
    if threshold.min_similarity is not None:
        message.min_similarity = threshold.min_similarity
    if threshold.max_distance is not None:
        message.max_distance = threshold.max_distance
    return message
