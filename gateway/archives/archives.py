"""Exports workspaces as archives, and imports them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from chassis.errors import InvalidArgument, ServiceError
from gateway.access.call_access import require_workspace
from gateway.archives.facts import WorkspaceFacts, facts_from_json, facts_to_json
from gateway.archives.frames import ArchiveReader, ArchiveWriter, Frame, FrameKind
from gateway.catalogue import Catalogue
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.glossaries import Glossaries
from gateway.switches.editing import SwitchEditing
from gateway.switches.values import written
from gateway.transfer_ports import Transfers
from gateway.validation import check_slug

_log = structlog.get_logger("gateway.archives")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Says what was imported; vectors are those of all spaces, without windows."""

    document_count: int
    passage_count: int
    vector_count: int
    glossary_entry_count: int
    switch_override_count: int


class Archives:
    """Brings together what the retriever and the gateway's database hold of a workspace."""

    def __init__(
        self,
        transfers: Transfers,
        catalogue: Catalogue,
        board: GlossaryBoard,
        glossaries: Glossaries,
        switches: SwitchEditing,
    ) -> None:
        self._transfers = transfers
        self._catalogue = catalogue
        self._board = board
        self._glossaries = glossaries
        self._switches = switches

    async def export(self, workspace: str) -> AsyncGenerator[bytes, None]:
        """Yields an archive, whole once this ends.

        NotFound: no such workspace. Unavailable: the gateway's database is lost.
        """
        check_slug(workspace, "workspace")
        overrides = await self._switches.overrides(workspace)
        facts = WorkspaceFacts(
            (await self._board.read(workspace)).entries,
            {key: written(value) for key, value in overrides.items()},
        )
        writer = ArchiveWriter()
        async with aclosing(self._transfers.export_workspace(workspace)) as records:
            # A workspace that is gone by now is told before anything is written.
            first = await anext(records, None)
            yield writer.head()
            yield writer.frame(FrameKind.FACTS, facts_to_json(facts))
            if first is not None:
                yield writer.frame(FrameKind.RECORD, first)
            async for record in records:
                yield writer.frame(FrameKind.RECORD, record)
        yield writer.end()

    async def import_as(self, workspace: str, content: AsyncIterator[bytes]) -> ImportReport:
        """Makes a new workspace of an archive: whole, or nothing of it stays.

        InvalidArgument: the slug, or an archive that is damaged or none. FailedPrecondition: one of
        a newer build. AlreadyExists: the slug is taken.
        """
        require_workspace(workspace)
        check_slug(workspace, "workspace")
        reader = ArchiveReader(content)
        await reader.read_head()
        async with aclosing(reader.frames()) as frames:  # type: ignore[type-var]
            facts = await _facts_of(frames)
            # Before all is taken in for nothing.
            await self._board.read(workspace)
            came = await self._transfers.import_workspace(workspace, _records_of(frames))
            self._catalogue.forget_earlier(workspace)
        try:
            await self._settle(workspace, facts)
        except BaseException:
            await self._take_back(workspace)
            raise
        return ImportReport(
            came.document_count,
            came.passage_count,
            came.vector_count,
            len(facts.glossary),
            len(facts.overrides),
        )

    async def _settle(self, workspace: str, facts: WorkspaceFacts) -> None:
        if facts.glossary:
            await self._glossaries.put(workspace, facts.glossary, replace_all=True)
        for key, value in facts.overrides.items():
            await self._switches.set_override(workspace, key, value)

    async def _take_back(self, workspace: str) -> None:
        try:
            await self._catalogue.delete_workspace(workspace)
        except ServiceError as error:
            _log.warning(
                "an import without its glossary or switches stays",
                workspace=workspace,
                error=str(error),
            )


async def _facts_of(frames: AsyncIterator[Frame]) -> WorkspaceFacts:
    first = await anext(frames, None)
    if first is None or first.kind is not FrameKind.FACTS:
        raise InvalidArgument(
            "the archive does not begin with glossary and switches, as one that was exported does",
            reason="ARCHIVE_DAMAGED",
        )
    return facts_from_json(first.payload)


async def _records_of(frames: AsyncIterator[Frame]) -> AsyncIterator[bytes]:
    """Yields the records; it ends only where the archive's end is right."""
    async for frame in frames:
        if frame.kind is not FrameKind.RECORD:
            raise InvalidArgument(
                "the archive holds glossary and switches twice", reason="ARCHIVE_DAMAGED"
            )
        yield frame.payload
