"""What a committed change of documents means for the derived indexes."""

from dataclasses import dataclass

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.store.rows import LexicalEntry, WorkspaceRow


@dataclass(frozen=True, slots=True)
class VectorsPut:
    """Vectors, [ids, dimension], that a space holds from now on, in place of any earlier ones."""

    space_id: str
    dimension: int
    ids: IntVector
    vectors: FloatMatrix


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Holds the effect of one upsert or deletion.

    `removed` passages leave every index. `lost` names (space id, passage id) pairs whose vector
    is gone while the passage stays; it is applied before `put`.
    """

    workspace: WorkspaceRow
    """The workspace after the change."""
    removed: tuple[int, ...] = ()
    entries: tuple[LexicalEntry, ...] = ()
    lost: tuple[tuple[str, int], ...] = ()
    put: tuple[VectorsPut, ...] = ()
    erasing: bool = False
    """Whether content is gone that files may still hold: of documents deleted or replaced, vectors
    and windows that left a space or were replaced there."""
