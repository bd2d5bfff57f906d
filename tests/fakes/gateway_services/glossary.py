"""Glossaries in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from chassis.errors import Unavailable
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.editing import in_order
from gateway.glossary.entry import Glossary, GlossaryEdit, GlossaryEntry


@dataclass
class FakeGlossaryStore:
    """Implements the `GlossaryStore`; every method fails while `lost`. `reads` counts calls."""

    lost: bool = False
    reads: int = 0
    glossaries: dict[str, Glossary] = field(default_factory=dict)

    async def versions(self) -> dict[str, int]:
        """Implements the store."""
        self._enter()
        return {workspace: glossary.version for workspace, glossary in self.glossaries.items()}

    async def read(self, workspace: str) -> Glossary:
        """Implements the store."""
        self._enter()
        return self.glossaries.get(workspace, Glossary())

    async def change(self, workspace: str, edit: GlossaryEdit) -> tuple[Glossary, Glossary]:
        """Implements the store."""
        before = await self.read(workspace)
        entries = edit(before.entries)
        if entries != before.entries:
            self.put(workspace, *entries)
        return before, await self.read(workspace)

    async def clear(self, workspace: str) -> Glossary:
        """Implements the store."""
        self._enter()
        if workspace in self.glossaries:
            self.put(workspace)
        return self.glossaries.get(workspace, Glossary())

    def put(self, workspace: str, *entries: GlossaryEntry) -> None:
        """Makes these the entries of a workspace, as another replica would."""
        version = self.glossaries.get(workspace, Glossary()).version + 1
        self.glossaries[workspace] = Glossary(in_order(entries), version)

    def _enter(self) -> None:
        self.reads += 1
        if self.lost:
            raise Unavailable("the gateway's database is lost: gone", reason="DATABASE_LOST")


def empty_board() -> GlossaryBoard:
    """Returns a board without entries."""
    return GlossaryBoard(FakeGlossaryStore())
