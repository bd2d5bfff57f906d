"""One RPC of the gateway as the client calls it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)

PACKAGE = "justesse.gateway.v1"


@dataclass(frozen=True, slots=True)
class Method(Generic[RequestT, ResponseT]):
    """One RPC."""

    service: str
    """Full name of the service."""
    name: str
    request_type: type[RequestT]
    response_type: type[ResponseT]
    idempotent: bool
    """Reads only, so that it may be sent again."""

    @property
    def path(self) -> str:
        """Name of the method on the wire."""
        return f"/{self.service}/{self.name}"
