"""A number of places that are taken at once or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager

from chassis.errors import ResourceExhausted

_RETRY_AFTER_S = 30.0


class Turns:
    """Used by one event loop."""

    def __init__(self, count: int, what: str) -> None:
        self._count = count
        self._what = what
        self._taken = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Holds a place while inside. Raises ResourceExhausted where none is free."""
        if self._taken >= self._count:
            raise ResourceExhausted(
                f"{self._taken} {self._what} are under way, and no more go at once; "
                "try again when one has ended",
                retry_after_s=_RETRY_AFTER_S,
                reason=f"{self._what.upper()}_BUSY",
            )
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
