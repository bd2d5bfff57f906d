"""The glossaries in force, held in memory for searches, read again and again, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from chassis.errors import ServiceError
from gateway.glossary.entry import Glossary, GlossaryEdit, MatchingEntries
from gateway.glossary.matching import MAX_SENT_BYTES, GlossaryIndex
from gateway.glossary.store import GlossaryStore
from gateway.rewriting import ConversationTurn
from gateway.validation import MAX_QUERY_BYTES

_log = structlog.get_logger("gateway.glossary")

_NONE = GlossaryIndex(Glossary())


class GlossaryBoard:
    """Holds the glossary of every workspace; what cannot be read stays as it last was.

    Changes made through this board count at once, those of other replicas after a refresh.
    """

    def __init__(self, store: GlossaryStore) -> None:
        self._store = store
        self._indexes: dict[str, GlossaryIndex] = {}
        self._one_at_a_time = asyncio.Lock()

    def matching(
        self,
        workspace: str,
        language: str,
        query: str,
        history: Sequence[ConversationTurn] = (),
    ) -> MatchingEntries:
        """Returns the entries that stand in the query, or in its history from the latest turn on.

        Asks no database. Their words still fit into a query beside the one given.
        """
        index = self._indexes.get(workspace, _NONE)
        texts = (query, *(turn.text for turn in reversed(history)))
        room = max(MAX_QUERY_BYTES - len(query.encode()) - 1, 0)
        return index.matching(texts, language, min(room, MAX_SENT_BYTES))

    async def read(self, workspace: str) -> Glossary:
        """Returns what the database holds; Unavailable where it is lost."""
        return await self._store.read(workspace)

    async def change(self, workspace: str, edit: GlossaryEdit) -> tuple[Glossary, Glossary]:
        """Makes one change, which counts from now on; returns the glossary before and after it.

        Raises what the edit raises, and Unavailable where the database is lost.
        """
        before, after = await self._store.change(workspace, edit)
        await self._take(workspace, after)
        return before, after

    async def clear(self, workspace: str) -> None:
        """Deletes all entries of a workspace; Unavailable where the database is lost."""
        await self._take(workspace, await self._store.clear(workspace))

    async def refresh(self) -> None:
        """Reads what has changed; a database that cannot be read is no error."""
        async with self._one_at_a_time:
            try:
                versions = await self._store.versions()
                for workspace, version in versions.items():
                    if self._version(workspace) != version:
                        await self._hold(workspace, await self._store.read(workspace))
            except ServiceError as error:
                _log.warning("glossaries not refreshed; the last good ones stay", error=str(error))

    async def _take(self, workspace: str, glossary: Glossary) -> None:
        async with self._one_at_a_time:
            # A later change may have been taken first.
            if glossary.version > self._version(workspace):
                await self._hold(workspace, glossary)

    async def _hold(self, workspace: str, glossary: Glossary) -> None:
        self._indexes[workspace] = await asyncio.to_thread(GlossaryIndex, glossary)

    def _version(self, workspace: str) -> int:
        return self._indexes.get(workspace, _NONE).version
