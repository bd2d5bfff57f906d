"""Reads the status of a call that is over, where there is no time to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
import grpc.aio

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FinishedStatus:
    """How a call ended."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


def status_of_finished(call: grpc.aio.Call) -> FinishedStatus | None:
    """Returns the status inside a done callback of the call; None if it was cancelled here."""
    try:
        return FinishedStatus(
            _settled(call.code()),
            _settled(call.details()) or "",
            tuple(_settled(call.trailing_metadata()) or ()),
        )
    except asyncio.CancelledError:
        return None


def _settled(coroutine: Coroutine[Any, Any, T]) -> T:
    # These are coroutines that have nothing to wait for once the call is over.
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        coroutine.close()
    raise RuntimeError("the call is not over")
