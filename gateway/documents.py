"""Documents, their passages, and the vectors that travel with them to the retriever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

import numpy as np
import numpy.typing as npt

MetadataValue = str | float | bool | datetime
"""One typed fact; moments carry a time zone."""

FloatMatrix = npt.NDArray[np.float32]
"""Float32 array in C order; shapes stand where it is used."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its owner describes it; `external_id` is unique in the workspace.

    `language` is "fr", "en" or empty (the workspace's own). `content_hash` is a fingerprint of
    everything that decides how the document is stored: equal means nothing to do.
    """

    external_id: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    source_uri: str = ""
    category: str = ""
    language: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    version: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded: bool = False
    content_hash: str = ""
    chunking_profile: str = ""


@dataclass(frozen=True, slots=True)
class ParentRange:
    """Names the passages that make up the block a passage is a part of: its parent.

    They are `passage_count` ones from `first_chunk_index` on; `gap` stands between the passage
    before and this one.
    """

    first_chunk_index: int
    passage_count: int
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """The block that a passage was cut from."""

    text: str
    first_chunk_index: int
    passage_count: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a document; `chunk_index` counts from 0.

    `embedded_text_hash` is a fingerprint of the text that was embedded, which may hold title and
    headings: equal means an earlier vector still fits. `parent` is None where the passage stands
    alone, and on passages as they are read. `cuts_token` says that the passage begins or ends
    inside a run of letters and digits that is longer than a passage may be.
    """

    chunk_index: int
    text: str
    heading_path: tuple[str, ...] = ()
    location: str = ""
    token_estimate: int = 0
    embedded_text_hash: str = ""
    parent: ParentRange | None = None
    cuts_token: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Vectors of one space for passages of a document.

    `vectors` is float32, rows x dimension. Row i belongs to the passage at
    `passage_positions[i]` in the document's list of passages (growing), or to passage i where
    `passage_positions` is None. `window_counts[i]` says how many rows of `window_vectors`
    (float32, sum of counts x dimension) belong to row i; empty where there are no windows.
    `canary` is that of the embedder, laid out as a row; empty where it gave none. `sliced_rows`
    are means of slices: their texts were longer than the model's input.
    """

    space_id: str
    vectors: FloatMatrix
    passage_positions: tuple[int, ...] | None = None
    window_counts: tuple[int, ...] = ()
    window_vectors: FloatMatrix | None = None
    canary: bytes = b""
    sliced_rows: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as stored, and the spaces that hold a vector of it.

    In `sliced_space_ids`, some of them, that vector is a mean of slices.
    """

    passage_id: str
    passage: Passage
    space_ids: tuple[str, ...] = ()
    sliced_space_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as stored; `passages` is empty unless they were asked for.

    `awaiting_passage_count` counts the passages without a vector in any space.
    """

    document: Document
    passage_count: int
    update_time: datetime | None = None
    passages: tuple[StoredPassage, ...] = ()
    awaiting_passage_count: int = 0


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of a workspace's documents; an empty `next_page_token` marks the last."""

    documents: tuple[StoredDocument, ...]
    next_page_token: str
    total_count: int


class UpsertOutcome(Enum):
    """What an upsert did."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class UpsertReport:
    """What an upsert did.

    `awaiting_passage_count` counts the passages without a vector in any space,
    `kept_vector_count` those that kept an earlier one.
    """

    outcome: UpsertOutcome
    passage_count: int
    awaiting_passage_count: int = 0
    kept_vector_count: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True)
class DocumentDeletion:
    """Whether the document existed, and how many passages and kept files went with it.

    `original_failure` says why kept files may still be there.
    """

    deleted: bool
    passage_count: int
    seq: int = 0
    original_count: int = 0
    original_failure: str = ""
    purge_within_s: int = 0
    """Seconds within which its bytes leave all files; 0 where that is not promised."""


@dataclass(frozen=True, slots=True)
class SourceDeletion:
    """What became of each document of a source, by external id."""

    deletions: Mapping[str, DocumentDeletion]

    @property
    def passage_count(self) -> int:
        """Passages that were deleted, over all documents."""
        return sum(deletion.passage_count for deletion in self.deletions.values())

    @property
    def original_count(self) -> int:
        """Kept files that were deleted, over all documents."""
        return sum(deletion.original_count for deletion in self.deletions.values())

    @property
    def purge_within_s(self) -> int:
        """Seconds within which all their bytes leave all files; 0 where that is not promised."""
        return max((deletion.purge_within_s for deletion in self.deletions.values()), default=0)
