"""Thresholds: rules that drop passages by a named score."""

from collections.abc import Mapping
from dataclasses import dataclass

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.filters import Filter, fulfils, type_of

DEFAULT_TERM_SHARE = 0.25
"""Kept nine of ten passages that answer a question of the demonstration, and one of ten others."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Drops passages whose cosine in a space is under `min_similarity`.

    A passage without any cosine is judged by the share of the original wording's terms that it
    holds; one with a cosine in another space only is not judged, for a rule is calibrated for one
    space. Without a space, every passage is judged by its share. What cannot be known (the share
    of a wording without terms) judges nothing.
    """

    space_id: str = ""
    min_similarity: float | None = None
    """None exactly where no space is named."""
    min_term_share: float = DEFAULT_TERM_SHARE
    context_field: str = ""
    """Only documents whose metadata field of this name equals the request's value are judged."""
    context_differs: bool = False
    """Instead, only those for which the two differ or one is missing."""
    condition: Filter | None = None
    """Only documents that fulfil it are judged."""

    def counts_for(self, document: Document, context: Mapping[str, MetadataValue]) -> bool:
        """Whether passages of the document are judged in a request with these values."""
        if self.condition is not None and not fulfils(document, self.condition):
            return False
        if not self.context_field:
            return True
        equal = _equal(document.metadata.get(self.context_field), context.get(self.context_field))
        return equal is not self.context_differs

    def missed_by(self, cosines: Mapping[str, float], term_share: float | None) -> str:
        """Returns in words how a passage with these scores misses it; empty if it does not."""
        if self.space_id and cosines:
            cosine = cosines.get(self.space_id)
            assert self.min_similarity is not None
            if cosine is None or cosine >= self.min_similarity:
                return ""
            return (
                f"its cosine {cosine:.4f} in space {self.space_id} is under "
                f"{self.min_similarity:.4f}"
            )
        if term_share is None or term_share >= self.min_term_share:
            return ""
        why = " and it has no cosine in any space" if self.space_id else ""
        return (
            f"its share {term_share:.2f} of the question's terms is under "
            f"{self.min_term_share:.2f}{why}"
        )


def _equal(stored: MetadataValue | None, asked: MetadataValue | None) -> bool:
    if stored is None or asked is None:
        return False
    return type_of(stored) is type_of(asked) and stored == asked
