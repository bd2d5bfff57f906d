"""What all records of a workspace add up to."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from justesse.retriever.v1 import transfers_pb2

FORMAT_VERSION = 1


@dataclass(slots=True)
class RecordDigest:
    """Counts and hashes records as they pass; each is preceded by its length, so none can move."""

    documents: int = 0
    passages: int = 0
    vectors: int = 0
    _sha256: Any = field(default_factory=hashlib.sha256)

    def add(self, record: bytes) -> None:
        """Takes the bytes of a record before the end."""
        self._sha256.update(len(record).to_bytes(8, "little"))
        self._sha256.update(record)

    def end(self) -> transfers_pb2.TransferEnd:
        """Returns what stands in the end of these records."""
        return transfers_pb2.TransferEnd(
            document_count=self.documents,
            passage_count=self.passages,
            vector_count=self.vectors,
            sha256=self._sha256.digest(),
        )
