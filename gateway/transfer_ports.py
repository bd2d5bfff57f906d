"""What the gateway asks of the retriever about whole workspaces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

from gateway.workspaces import ImportedCounts


class Transfers(Protocol):
    """Copies whole workspaces, in records that only the retriever reads."""

    def export_workspace(self, workspace: str) -> AsyncGenerator[bytes, None]:
        """Yields the records of one state of a workspace; NotFound where there is none."""
        ...

    async def import_workspace(
        self, workspace: str, records: AsyncIterator[bytes]
    ) -> ImportedCounts:
        """Makes a new workspace of records, which appears once they have ended.

        An error of `records` is raised as it is, and nothing is there then. AlreadyExists where the
        slug is taken, InvalidArgument for records that are wrong.
        """
        ...
