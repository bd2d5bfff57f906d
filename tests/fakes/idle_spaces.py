"""The part of a retriever that moves passages, where nothing has to be moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.documents import Parent
from gateway.explanations import DocumentStandings
from gateway.searching import FusedHits, PassageSearch
from gateway.spaces import (
    AwaitingPage,
    PassageVectorsPut,
    PassageWindowsPut,
    PutReport,
    SpaceDrop,
    SpaceLease,
    SpaceSwitch,
)
from gateway.workspaces import Workspace


class IdleSpaces:
    """Implements the `SpaceStore` port, and lists no workspace that movers could look at."""

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Lists none."""
        return ()

    async def search_passages(
        self, search: PassageSearch, *, timeout: float | None = None
    ) -> FusedHits:
        """Is not called where no space is compared with another."""
        raise AssertionError("nothing is compared")

    async def explain_passages(
        self, search: PassageSearch, external_id: str, *, timeout: float | None = None
    ) -> DocumentStandings:
        """Is not called where no search is explained."""
        raise AssertionError("nothing is explained")

    async def lease_space(
        self,
        workspace: str,
        space_id: str,
        holder: str,
        duration_s: float,
        *,
        timeout: float | None = None,
    ) -> SpaceLease:
        """Grants it."""
        return SpaceLease(granted=True, remaining_s=duration_s)

    async def list_passages_awaiting(
        self,
        workspace: str,
        space_id: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        windows: bool = False,
        timeout: float | None = None,
    ) -> AwaitingPage:
        """Lists none."""
        return AwaitingPage(())

    async def read_parents(
        self, workspace: str, passage_ids: Sequence[str], *, timeout: float | None = None
    ) -> Mapping[str, Parent]:
        """Knows none."""
        return {}

    async def put_vectors(
        self, workspace: str, put: PassageVectorsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Is not called where nothing waits."""
        raise AssertionError("nothing waits")

    async def put_windows(
        self, workspace: str, put: PassageWindowsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Is not called where nothing waits."""
        raise AssertionError("nothing waits")

    async def switch_space(
        self,
        workspace: str,
        space_id: str,
        *,
        require_complete: bool = False,
        timeout: float | None = None,
    ) -> SpaceSwitch:
        """Leaves two passages waiting."""
        return SpaceSwitch(f"before {space_id}", 1, 2)

    async def drop_space(
        self,
        workspace: str,
        space_id: str,
        *,
        leave_waiting: bool = False,
        timeout: float | None = None,
    ) -> SpaceDrop:
        """Drops three vectors, and one more of a passage that may be left waiting."""
        return SpaceDrop(3 + leave_waiting, 1)
