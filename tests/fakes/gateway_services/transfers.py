"""Workspaces out of a retriever in memory and into it, and a small archive of one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from chassis.errors import AlreadyExists, NotFound, ServiceError
from gateway.archives.facts import WorkspaceFacts, facts_to_json
from gateway.archives.frames import ArchiveWriter, FrameKind
from gateway.workspaces import ImportedCounts, Workspace
from tests.fakes.gateway_services.behaviour import Behaviour

RECORDS = [b"first " * 400, b"second", b""]


def archive_of(records: list[bytes] = RECORDS, facts: WorkspaceFacts | None = None) -> list[bytes]:
    """Returns the parts of an archive: head, facts, records, end."""
    writer = ArchiveWriter()
    return [
        writer.head(),
        writer.frame(FrameKind.FACTS, facts_to_json(facts or WorkspaceFacts())),
        *(writer.frame(FrameKind.RECORD, record) for record in records),
        writer.end(),
    ]


class TransferredWorkspaces:
    """The part of a retriever that gives records of workspaces, and makes workspaces of them."""

    workspaces: dict[str, Workspace]
    behaviour: Behaviour
    imported: dict[str, list[bytes]]
    """Records that have come, by workspace."""
    export_error: ServiceError | None
    """Error to break off with after the first record."""

    async def export_workspace(self, workspace: str) -> AsyncGenerator[bytes, None]:
        """Implements the port: records that came, or the same for every workspace."""
        await self.behaviour.meet(None)
        if workspace not in self.workspaces:
            raise NotFound(f"there is no workspace {workspace!r}", reason="WORKSPACE_NOT_FOUND")
        for record in self.imported.get(workspace, RECORDS):
            yield record
            if self.export_error is not None:
                raise self.export_error

    async def import_workspace(
        self, workspace: str, records: AsyncIterator[bytes]
    ) -> ImportedCounts:
        """Implements the port: one document a record."""
        await self.behaviour.meet(None)
        if workspace in self.workspaces:
            raise AlreadyExists(f"workspace {workspace!r} exists", reason="WORKSPACE_EXISTS")
        came = [record async for record in records]
        self.imported[workspace] = came
        self.workspaces[workspace] = Workspace(workspace)
        return ImportedCounts(len(came), 2 * len(came), 3 * len(came))
