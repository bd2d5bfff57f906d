"""Who may call: names in the certificates that callers show."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from types import TracebackType

from chassis.errors import PermissionDenied
from chassis.interception import CalledMethod, ServicerContext, Surround

_NAMES = ("x509_subject_alternative_name", "x509_common_name")


def peers_named(allowed: Collection[str]) -> Surround:
    """Returns what lets in callers whose certificate has one of these names, and nobody else."""
    return partial(_NamedPeer, frozenset(allowed))


class _NamedPeer:
    __slots__ = ("_allowed", "_context")

    def __init__(
        self, allowed: frozenset[str], _method: CalledMethod, context: ServicerContext
    ) -> None:
        self._allowed = allowed
        self._context = context

    async def __aenter__(self) -> None:
        shown = self._context.auth_context()
        names = {name.decode(errors="replace") for kind in _NAMES for name in shown.get(kind, ())}
        if names.isdisjoint(self._allowed):
            raise PermissionDenied(
                f"the caller's certificate names {', '.join(sorted(names)) or 'nobody'}; allowed "
                f"are {', '.join(sorted(self._allowed))}",
                reason="PEER_NOT_ALLOWED",
            )

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        return None
