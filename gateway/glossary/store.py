"""Glossaries in the gateway's database."""

from __future__ import annotations

from typing import Any, Protocol

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database.database import Database
from gateway.database.tables import GLOSSARY, GLOSSARY_VERSIONS
from gateway.glossary.editing import in_order
from gateway.glossary.entry import Glossary, GlossaryEdit, GlossaryEntry


class GlossaryStore(Protocol):
    """Keeps glossaries; every method raises Unavailable where the database is lost."""

    async def versions(self) -> dict[str, int]:
        """Returns the version of every workspace that ever had an entry."""
        ...

    async def read(self, workspace: str) -> Glossary:
        """Returns the glossary of a workspace; an empty one where it has none."""
        ...

    async def change(self, workspace: str, edit: GlossaryEdit) -> tuple[Glossary, Glossary]:
        """Makes one change, alone; returns the glossary before and after it.

        What the edit raises is raised, and nothing is changed. An edit that changes nothing leaves
        the version as it is.
        """
        ...

    async def clear(self, workspace: str) -> Glossary:
        """Deletes all entries of a workspace.

        The version stays and grows: another workspace of that slug goes on with it, so that nobody
        takes its glossary for the one they know.
        """
        ...


class DatabaseGlossaryStore:
    """Implements the `GlossaryStore`; makes its tables at the first contact."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(self) -> dict[str, int]:
        """Implements the store."""
        await self._database.prepare_once(GLOSSARY_VERSIONS)
        async with self._database.reading() as connection:
            rows = await connection.execute(
                select(GLOSSARY_VERSIONS.c.workspace, GLOSSARY_VERSIONS.c.version)
            )
            return {str(workspace): int(version) for workspace, version in rows}

    async def read(self, workspace: str) -> Glossary:
        """Implements the store."""
        await self._database.prepare_once(GLOSSARY_VERSIONS)
        async with self._database.reading() as connection:
            # In this order: entries that are newer than their version are read again, not missed.
            version = await connection.scalar(_version_of(workspace))
            return Glossary(await _entries(connection, workspace), int(version or 0))

    async def change(self, workspace: str, edit: GlossaryEdit) -> tuple[Glossary, Glossary]:
        """Implements the store."""
        await self._database.prepare_once(GLOSSARY_VERSIONS)
        async with self._database.transaction() as connection:
            version = await _locked_version(connection, workspace)
            before = Glossary(await _entries(connection, workspace), version)
            entries = edit(before.entries)
            if entries == before.entries:
                return before, before
            after = Glossary(entries, version + 1)
            await _write(connection, workspace, before, after)
            return before, after

    async def clear(self, workspace: str) -> Glossary:
        """Implements the store."""
        await self._database.prepare_once(GLOSSARY_VERSIONS)
        async with self._database.transaction() as connection:
            version = await connection.scalar(_version_of(workspace).with_for_update())
            if version is None:
                return Glossary()
            await connection.execute(delete(GLOSSARY).where(GLOSSARY.c.workspace == workspace))
            await _set_version(connection, workspace, int(version) + 1)
            return Glossary(version=int(version) + 1)


def _version_of(workspace: str) -> Any:
    return select(GLOSSARY_VERSIONS.c.version).where(GLOSSARY_VERSIONS.c.workspace == workspace)


async def _locked_version(connection: AsyncConnection, workspace: str) -> int:
    """Locks the glossary of a workspace until the transaction ends."""
    locked = _version_of(workspace).with_for_update()
    version = await connection.scalar(locked)
    if version is not None:
        return int(version)
    try:
        async with connection.begin_nested():
            await connection.execute(
                GLOSSARY_VERSIONS.insert().values(workspace=workspace, version=0)
            )
    except IntegrityError:
        # Another process has just written the first entries of this workspace.
        return int(await connection.scalar(locked) or 0)
    return 0


async def _set_version(connection: AsyncConnection, workspace: str, version: int) -> None:
    await connection.execute(
        update(GLOSSARY_VERSIONS)
        .where(GLOSSARY_VERSIONS.c.workspace == workspace)
        .values(version=version)
    )


async def _entries(connection: AsyncConnection, workspace: str) -> tuple[GlossaryEntry, ...]:
    rows = await connection.execute(
        select(GLOSSARY.c.term, GLOSSARY.c.synonyms).where(GLOSSARY.c.workspace == workspace)
    )
    # Databases collate differently.
    return in_order(GlossaryEntry(term, tuple(synonyms)) for term, synonyms in rows)


async def _write(
    connection: AsyncConnection, workspace: str, before: Glossary, after: Glossary
) -> None:
    kept = set(before.entries) & set(after.entries)
    gone = [entry.name for entry in before.entries if entry not in kept]
    new = [_row(workspace, entry, after.version) for entry in after.entries if entry not in kept]
    if gone:
        await connection.execute(
            delete(GLOSSARY).where(GLOSSARY.c.workspace == workspace, GLOSSARY.c.name.in_(gone))
        )
    if new:
        await connection.execute(GLOSSARY.insert(), new)
    await _set_version(connection, workspace, after.version)


def _row(workspace: str, entry: GlossaryEntry, version: int) -> dict[str, Any]:
    return {
        "workspace": workspace,
        "name": entry.name,
        "term": entry.term,
        "synonyms": list(entry.synonyms),
        "version": version,
    }
