"""Calls that are being served, by key: the end of a key ends them too."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass

from chassis.errors import Unauthenticated
from gateway.access.identity import current_identity


@dataclass(eq=False, slots=True)
class _Call:
    task: asyncio.Task[object]
    ended: bool = False


class RunningCalls:
    """Ends calls whose keys are valid no more; belongs to one event loop."""

    def __init__(self) -> None:
        self._calls: defaultdict[str, set[_Call]] = defaultdict(set)

    @contextmanager
    def during(self) -> Iterator[None]:
        """Is entered by the task that serves a call; Unauthenticated when its key ends."""
        identity, task = current_identity(), asyncio.current_task()
        if identity is None or task is None:
            yield
            return
        call = _Call(task)
        self._calls[identity.prefix].add(call)
        try:
            yield
        except asyncio.CancelledError:
            if not call.ended or task.uncancel() > 0:
                raise
            raise Unauthenticated(
                "the API key has been revoked or has expired", reason="KEY_NOT_VALID"
            ) from None
        finally:
            calls = self._calls[identity.prefix]
            calls.discard(call)
            if not calls:
                del self._calls[identity.prefix]

    def keep_only(self, prefixes: Set[str]) -> None:
        """Ends the calls of all other keys."""
        for prefix in self._calls.keys() - prefixes:
            for call in self._calls[prefix]:
                if not call.ended:
                    call.ended = True
                    call.task.cancel()
