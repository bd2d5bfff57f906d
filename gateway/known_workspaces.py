"""What the gateway remembers of workspaces: their spaces, without asking for each search."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace

from cachetools import TTLCache

from chassis.clock import Clock, monotonic
from gateway.ports import WorkspaceStore
from gateway.workspaces import Space


@dataclass(frozen=True, slots=True)
class KnownWorkspace:
    """Spaces that searches look into as of `spaces_version`, and what was chosen for the workspace.

    `preferred_space_id` is empty before the first vector.
    """

    spaces: tuple[Space, ...]
    spaces_version: int
    language: str = ""
    preset: str = ""
    preferred_space_id: str = ""


class KnownWorkspaces:
    """Remembers at most `capacity` workspaces, each for `ttl_s` seconds.

    What is remembered may be old: a search carries its version and the retriever objects.
    """

    def __init__(
        self,
        store: WorkspaceStore,
        *,
        capacity: int = 1024,
        ttl_s: float = 300.0,
        clock: Clock = monotonic,
    ) -> None:
        self._store = store
        self._known: MutableMapping[str, KnownWorkspace] = TTLCache(capacity, ttl_s, timer=clock)

    def known(self, slug: str) -> KnownWorkspace | None:
        """Returns what is known without asking anybody."""
        return self._known.get(slug)

    async def get(self, slug: str, timeout: float | None = None) -> KnownWorkspace:
        """Returns what is known, asking the retriever first where nothing is.

        Raises NotFound where there is no such workspace; that is not remembered.
        """
        known = self._known.get(slug)
        if known is None:
            workspace = await self._store.describe_workspace(slug, timeout=timeout)
            language = workspace.settings.language
            known = KnownWorkspace(
                _searched(workspace.spaces),
                workspace.spaces_version,
                "" if language == "auto" else language,
                workspace.settings.preset,
                workspace.preferred_space_id,
            )
            self._known[slug] = known
        return known

    def update(
        self, slug: str, known: KnownWorkspace, spaces: tuple[Space, ...], spaces_version: int
    ) -> KnownWorkspace:
        """Remembers the spaces a search answered with; returns what is known now."""
        searched = _searched(spaces)
        ids = [space.space_id for space in searched]
        preferred = known.preferred_space_id
        if preferred not in ids:
            # Which one is preferred now is not told; it is the one that holds nearly all.
            fullest = max(searched, key=lambda space: space.passage_count, default=None)
            preferred = "" if fullest is None else fullest.space_id
        fresh = replace(
            known,
            spaces=searched,
            spaces_version=spaces_version,
            preferred_space_id=preferred,
        )
        self._known[slug] = fresh
        return fresh

    def forget(self, slug: str) -> None:
        """Drops what is known of a workspace."""
        self._known.pop(slug, None)


def _searched(spaces: tuple[Space, ...]) -> tuple[Space, ...]:
    return tuple(space for space in spaces if space.passage_count > 0 and not space.resting)
