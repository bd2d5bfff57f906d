"""Keeps the list of a workspace's spaces true while one change adds and removes vectors."""

import sqlite3
from dataclasses import replace

from chassis.errors import InvalidArgument
from retriever_svc.embedded.store.workspace_rows import SpaceRow, WorkspaceRow


class SpaceLedger:
    """Counts what a change does to each space; `settle` stores the outcome."""

    def __init__(self, connection: sqlite3.Connection, workspace: WorkspaceRow) -> None:
        self._connection = connection
        self._workspace = workspace
        self._by_id = {space.space_id: space for space in workspace.spaces}
        self._by_key = {space.key: space for space in workspace.spaces}

    def enter(self, space_id: str, dimension: int) -> SpaceRow:
        """Returns the space, new if need be. Raises InvalidArgument where the width differs."""
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
        return space

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

    def settle(self) -> tuple[str, int]:
        """Stores the counts and drops empty spaces.

        Returns the preferred space and the version of the list as they are now.
        """
        before = {space.space_id for space in self._workspace.spaces}
        for space in list(self._by_id.values()):
            if space.passage_count:
                self._connection.execute(
                    "UPDATE spaces SET passage_count = ? WHERE workspace_id = ? AND id = ?",
                    (space.passage_count, self._workspace.id, space.key),
                )
            else:
                self._connection.execute(
                    "DELETE FROM spaces WHERE workspace_id = ? AND id = ?",
                    (self._workspace.id, space.key),
                )
                del self._by_id[space.space_id]
        preferred = self._workspace.preferred_space_id or next(iter(self._by_id), "")
        changed = before != set(self._by_id) or preferred != self._workspace.preferred_space_id
        return preferred, self._workspace.spaces_version + changed

    def _insert(self, space_id: str, dimension: int) -> SpaceRow:
        cursor = self._connection.execute(
            "INSERT INTO spaces (workspace_id, space_id, dimension) VALUES (?, ?, ?)",
            (self._workspace.id, space_id, dimension),
        )
        assert cursor.lastrowid is not None
        space = SpaceRow(cursor.lastrowid, space_id, dimension, passage_count=0, windowed=False)
        self._keep(space)
        return space

    def _keep(self, space: SpaceRow) -> None:
        self._by_id[space.space_id] = space
        self._by_key[space.key] = space
