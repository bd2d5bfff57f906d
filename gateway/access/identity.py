"""Who makes the call that is being served."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

ANONYMOUS = "anonymous"
"""The actor of calls without a key, and of work that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The key that a call came with: its public prefix, and the name its maker gave it."""

    prefix: str
    name: str

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"


_current: ContextVar[Identity | None] = ContextVar("identity", default=None)


def current_identity() -> Identity | None:
    """Returns who makes the call being served; None without a key, and outside of a call."""
    return _current.get()


def current_actor() -> str:
    """Returns how records name who makes the call, such as `jst_4f1c09ab (nightly import)`."""
    identity = _current.get()
    return ANONYMOUS if identity is None else str(identity)


def bind_identity(identity: Identity | None) -> None:
    """Makes this the identity of the running task and of the tasks it starts."""
    _current.set(identity)


@contextmanager
def acting_as(identity: Identity | None) -> Iterator[None]:
    """Makes this the identity of what happens inside."""
    token = _current.set(identity)
    try:
        yield
    finally:
        _current.reset(token)
