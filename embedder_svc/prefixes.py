"""The words that a model wants before a text."""

import hashlib
from dataclasses import dataclass

from embedder_svc.embedding import EmbeddingPurpose


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What stands before a query and before a passage; nothing by default."""

    query: str = ""
    document: str = ""

    def of(self, purpose: EmbeddingPurpose) -> str:
        """Returns the words for a purpose."""
        return self.query if purpose is EmbeddingPurpose.QUERY else self.document

    @property
    def digest(self) -> str:
        """A name for these words, `none` if there are none."""
        if not (self.query or self.document):
            return "none"
        return hashlib.sha256(f"{self.query}\0{self.document}".encode()).hexdigest()[:8]


NO_PREFIXES = Prefixes()
