"""Vector spaces of a workspace at work: what they lack, and what moves passages between them."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.documents import FloatMatrix, Passage, VectorBlock


@dataclass(frozen=True, slots=True)
class AwaitingPassage:
    """A passage that a space lacks; `space_ids` hold a vector of it."""

    passage_id: str
    passage: Passage
    document_title: str
    space_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AwaitingPage:
    """Passages that a space lacks; an empty `next_page_token` marks the last page.

    The first page counts all that the space lacks, and adds up their token estimates.
    """

    passages: tuple[AwaitingPassage, ...]
    next_page_token: str = ""
    awaiting_passage_count: int = 0
    awaiting_token_estimate: int = 0


@dataclass(frozen=True, slots=True)
class PassageVectorsPut:
    """Vectors for stored passages: row i of `block` belongs to `passages[i]`.

    They are refused unless `lease_holder` holds the lease of the space. The passages leave the
    spaces in `left_space_ids`.
    """

    passages: tuple[AwaitingPassage, ...]
    block: VectorBlock
    lease_holder: str
    left_space_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PassageWindowsPut:
    """Windows for passages that have a vector in a space.

    The next `window_counts[i]` rows of `window_vectors` (float32, rows x dimension; None where
    there are none at all) belong to `passages[i]`.
    """

    space_id: str
    dimension: int
    passages: tuple[AwaitingPassage, ...]
    window_counts: tuple[int, ...]
    window_vectors: FloatMatrix | None = None


@dataclass(frozen=True, slots=True)
class PutReport:
    """What was stored; `outdated_count` passages are gone or have another text by now."""

    stored_count: int
    outdated_count: int = 0


@dataclass(frozen=True, slots=True)
class SpaceSwitch:
    """What was switched; the preferred space lacks `awaiting_passage_count` passages now."""

    previous_space_id: str
    spaces_version: int
    awaiting_passage_count: int = 0


@dataclass(frozen=True, slots=True)
class SpaceDrop:
    """How many vectors went with a space; 0 where there was none."""

    vector_count: int
    spaces_version: int


@dataclass(frozen=True, slots=True)
class SpaceLease:
    """Whether the one who asked may work on a space, and the seconds the lease still holds."""

    granted: bool
    remaining_s: float = 0.0
