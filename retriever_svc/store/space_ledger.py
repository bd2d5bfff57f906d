"""Keeps the list of a workspace's spaces true while one change adds and removes vectors."""

from collections.abc import Iterable
from dataclasses import replace

from chassis.errors import FailedPrecondition, InvalidArgument
from retriever_svc.store.rows import SpaceRow, WorkspaceRow, rests
from retriever_svc.store.tables import StoreTables
from retriever_svc.unit_vectors import same_model


class SpaceLedger:
    """Counts what a change does to each space; `settle` stores the outcome."""

    def __init__(self, tables: StoreTables, workspace: WorkspaceRow) -> None:
        self._tables = tables
        self._workspace = workspace
        self._by_id = {space.space_id: space for space in workspace.spaces}
        self._by_key = {space.key: space for space in workspace.spaces}

    @property
    def preferred_key(self) -> int | None:
        """The internal id of the preferred space; None while the workspace does not hold it."""
        preferred = self._by_id.get(self._workspace.preferred_space_id)
        return None if preferred is None else preferred.key

    def enter(self, space_id: str, dimension: int, canary: bytes = b"") -> SpaceRow:
        """Returns the space, new if need be; keeps the canary if it has none yet.

        Raises InvalidArgument where the width differs, FailedPrecondition where the canary does.
        """
        space = self._by_id.get(space_id)
        if space is None:
            space = self._insert(space_id, dimension)
        if space.dimension != dimension:
            raise InvalidArgument(
                f"space {space_id!r} holds vectors of {space.dimension} values, "
                f"these have {dimension}; vectors of another width belong to another space",
                field="passages.vectors.dimension",
                reason="DIMENSION_MISMATCH",
            )
        return self._compared(space, canary) if canary else space

    def known(self, space_id: str) -> SpaceRow | None:
        """Returns the space if the workspace holds it."""
        return self._by_id.get(space_id)

    def space(self, key: int) -> SpaceRow:
        """Returns a space by its internal id."""
        return self._by_key[key]

    def count(self, key: int, added: int) -> None:
        """Notes that passages gained (or, below 0, lost) a vector in a space."""
        space = self._by_key[key]
        self._keep(replace(space, passage_count=space.passage_count + added))

    def count_strays(self, keys: Iterable[int], added: int) -> None:
        """Notes that spaces gained (or, below 0, lost) passages that the preferred one lacks."""
        for key in keys:
            space = self._by_key[key]
            self._keep(replace(space, stray_count=space.stray_count + added))

    def settle(self, switch_to: str = "") -> tuple[str, int]:
        """Stores the counts, drops empty spaces, and prefers another space if one is given.

        Returns the preferred space and the version of the list as they are now.
        """
        before = _list_of(self._workspace.spaces, self._workspace.preferred_space_id)
        self._drop_empty()
        preferred = switch_to or self._workspace.preferred_space_id or next(iter(self._by_id), "")
        if preferred != self._workspace.preferred_space_id:
            self._count_anew(preferred)
        self._tables.set_counts(self._workspace.id, self._by_id.values())
        after = _list_of(self._by_id.values(), preferred)
        changed = before != after or preferred != self._workspace.preferred_space_id
        return preferred, self._workspace.spaces_version + changed

    def _drop_empty(self) -> None:
        for space in [space for space in self._by_id.values() if not space.passage_count]:
            self._tables.delete_space(self._workspace.id, space.key)
            del self._by_id[space.space_id]

    def _count_anew(self, preferred: str) -> None:
        for space in list(self._by_id.values()):
            strays = self._tables.count_strays(
                self._workspace.id, space.key, self._by_id[preferred].key
            )
            self._keep(replace(space, stray_count=strays))

    def _compared(self, space: SpaceRow, canary: bytes) -> SpaceRow:
        if not space.canary:
            self._tables.set_canary(self._workspace.id, space.key, canary)
            self._keep(replace(space, canary=canary))
        elif not same_model(space.canary, canary):
            raise FailedPrecondition(
                f"the model behind space {space.space_id!r} is no longer the one that made the "
                "stored vectors; embed the workspace again into another space",
                reason="SPACE_DRIFTED",
            )
        return self._by_key[space.key]

    def _insert(self, space_id: str, dimension: int) -> SpaceRow:
        key = self._tables.insert_space(self._workspace.id, space_id, dimension)
        space = SpaceRow(key, space_id, dimension, passage_count=0, windowed=False)
        self._keep(space)
        return space

    def _keep(self, space: SpaceRow) -> None:
        self._by_id[space.space_id] = space
        self._by_key[space.key] = space


def _list_of(spaces: Iterable[SpaceRow], preferred_space_id: str) -> set[tuple[str, bool]]:
    """Returns what a caller that embeds for the spaces must know of them."""
    return {(space.space_id, rests(space, preferred_space_id)) for space in spaces}
