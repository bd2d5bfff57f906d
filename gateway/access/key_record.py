"""A key as it is kept: everything but its secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from gateway.access.grants import Grants
from gateway.access.identity import Identity


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key; moments carry a time zone, None where there is none.

    `creator` is the actor that made it.
    """

    prefix: str
    name: str
    digest: str = field(repr=False)
    grants: Grants
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None
    creator: str = ""

    @property
    def identity(self) -> Identity:
        """Who calls with this key."""
        return Identity(self.prefix, self.name)

    def valid_at(self, moment: datetime) -> bool:
        """Whether calls with it are served at the moment."""
        expired = self.expire_time is not None and self.expire_time <= moment
        return not expired and self.revoke_time is None
