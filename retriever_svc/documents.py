"""Documents, the passages they are cut into, and the vectors of these passages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatMatrix: TypeAlias = npt.NDArray[np.float32]
IntVector: TypeAlias = npt.NDArray[np.int64]
MetadataValue: TypeAlias = str | float | bool | datetime

WINDOWS_AWAITED = -1
"""In place of a count: the windows of a passage come later, if ever."""


@dataclass(frozen=True, slots=True)
class Document:
    """Describes a document. Moments are aware of their time zone."""

    external_id: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    source_uri: str = ""
    category: str = ""
    language: str = ""
    """ "fr", "en", or empty for the workspace's own."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    version: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded: bool = False
    content_hash: str = ""
    """Equal means nothing to do; an empty one equals nothing."""
    chunking_profile: str = ""


@dataclass(frozen=True, slots=True)
class ParentRange:
    """Names the passages that make up the block a passage is a part of.

    They are `passage_count` ones from `first_chunk_index` on; `gap` stands between the passage
    before and this one.
    """

    first_chunk_index: int
    passage_count: int
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """Holds the block that a passage was cut from."""

    passage_id: int
    text: str
    first_chunk_index: int
    passage_count: int


@dataclass(frozen=True, slots=True)
class Passage:
    """Holds one passage of a document."""

    chunk_index: int
    text: str
    heading_path: tuple[str, ...] = ()
    location: str = ""
    token_estimate: int = 0
    embedded_text_hash: str = ""
    """Fingerprint of the text that was embedded; an empty one equals nothing."""
    parent: ParentRange | None = None
    """None where the passage stands alone, and on passages as they are read."""
    cuts_token: bool = False
    """Whether it begins or ends inside a word that is longer than a passage may be."""


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """Holds the vectors of one space for some passages of a document.

    `positions[i]`, growing, is the chunk_index that row i of `vectors` belongs to. The next
    `window_counts[i]` rows of `window_vectors` belong to row i; the count is `WINDOWS_AWAITED` for
    a passage whose windows come later, if ever. Vectors are float32 in C order, [rows, dimension],
    of any norm over zero.
    """

    space_id: str
    positions: IntVector
    vectors: FloatMatrix
    window_counts: IntVector | None = None
    window_vectors: FloatMatrix | None = None
    canary: npt.NDArray[np.float32] | None = None
    """Vector of the embedder's fixed text, [dimension]."""
    sliced_rows: frozenset[int] = frozenset()
    """Rows whose text was longer than the model's input: they are means of slices."""


@dataclass(frozen=True, slots=True)
class DocumentUpsert:
    """Asks to store a document in place of any older state of the same external id.

    `passages[i].chunk_index == i`; `vectors` holds at most one entry a space.
    """

    workspace: str
    document: Document
    passages: tuple[Passage, ...] = ()
    vectors: tuple[PassageVectors, ...] = ()


class UpsertOutcome(StrEnum):
    """Names what an upsert did."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class UpsertReceipt:
    """Says what an upsert did."""

    outcome: UpsertOutcome
    passage_count: int
    awaiting_passage_count: int
    """Passages that have no vector in any space."""
    kept_vector_count: int
    """Passages that kept an earlier vector."""
    seq: int


@dataclass(frozen=True, slots=True)
class DocumentRemoval:
    """Says what went with a deleted document; `deleted` is false where there was none."""

    deleted: bool
    passage_count: int
    seq: int
    purge_within_s: int = 0
    """Seconds within which its bytes leave all files; 0 where that is not promised."""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """Holds a passage as stored."""

    passage_id: int
    passage: Passage
    space_ids: tuple[str, ...]
    sliced_space_ids: tuple[str, ...] = ()
    """Those of the spaces whose vector is a mean of slices."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """Holds a document as stored; `passages` is empty where they were not asked for."""

    document: Document
    passage_count: int
    updated_at: datetime
    passages: tuple[StoredPassage, ...] = ()
    awaiting_passage_count: int = 0
    """Passages that have no vector in any space."""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Holds a page of documents, ordered by external id.

    `next_after` is the external id after which the next page starts; None on the last page.
    """

    documents: tuple[StoredDocument, ...]
    next_after: str | None
    total_count: int
