"""What moves passages from one vector space to another: asks and answers."""

from dataclasses import dataclass

from retriever_svc.documents import FloatMatrix, IntVector, Passage, PassageVectors


@dataclass(frozen=True, slots=True)
class AwaitingPassage:
    """A passage that a space lacks vector or windows of; `space_ids` hold a vector of it."""

    passage_id: int
    passage: Passage
    document_title: str
    space_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AwaitingPage:
    """Passages that a space lacks, or lacks windows of, ids growing.

    `next_after` is the id after which the next page starts; None on the last page. The counts are
    those of all passages that the space lacks, on the first page.
    """

    passages: tuple[AwaitingPassage, ...]
    next_after: int | None
    awaiting_count: int = 0
    awaiting_token_estimate: int = 0


@dataclass(frozen=True, slots=True)
class PassageKey:
    """Names a passage whose embedded text has a certain fingerprint."""

    passage_id: int
    embedded_text_hash: str


@dataclass(frozen=True, slots=True)
class VectorsPutRequest:
    """Asks to store vectors of stored passages: row i belongs to `passages[i]`.

    The passages leave the spaces in `left_space_ids`. `lease_holder` must hold the lease of the
    space unless it is empty.
    """

    workspace: str
    passages: tuple[PassageKey, ...]
    vectors: PassageVectors
    lease_holder: str = ""
    left_space_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorsPutReceipt:
    """Says what was stored; `outdated_count` passages are gone or have another text by now."""

    stored_count: int
    outdated_count: int
    seq: int


@dataclass(frozen=True, slots=True, eq=False)
class WindowsPutRequest:
    """Asks to store windows of passages that have a vector in a space.

    The next `window_counts[i]` rows of `window_vectors` (float32, [rows, dimension], of any norm
    over zero) belong to `passages[i]`. `lease_holder` must hold the lease of the space unless it is
    empty.
    """

    workspace: str
    space_id: str
    passages: tuple[PassageKey, ...]
    window_counts: IntVector
    window_vectors: FloatMatrix
    lease_holder: str = ""


@dataclass(frozen=True, slots=True)
class SpaceSwitch:
    """Says what was switched; `awaiting_count` passages lack the preferred space now."""

    previous_space_id: str
    spaces_version: int
    awaiting_count: int


@dataclass(frozen=True, slots=True)
class SpaceRemoval:
    """Says how many vectors went with a space."""

    vector_count: int
    spaces_version: int


@dataclass(frozen=True, slots=True)
class SpaceLease:
    """Whether the one who asked may work on the space, and the seconds the lease still holds."""

    granted: bool
    remaining_s: float
