"""The state of the mesh behind the gateway."""

from dataclasses import dataclass
from enum import StrEnum

from justesse.gateway.v1 import mesh_pb2


class ServiceHealth(StrEnum):
    """What a service says of itself."""

    SERVING = "serving"
    NOT_SERVING = "not_serving"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"
    """A health that is newer than this client."""


@dataclass(frozen=True, slots=True)
class ServiceState:
    """One service."""

    name: str
    address: str
    health: ServiceHealth
    detail: str
    """Why it is not serving; empty if it is."""
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class ProviderState:
    """One embedding provider."""

    name: str
    model: str
    space_id: str
    state: str
    """"available", "unavailable", "not configured" or "drifted"."""
    last_error: str
    last_latency_ms: float | None = None
    """Milliseconds of its last successful call, checks included; None before the first."""


@dataclass(frozen=True, slots=True)
class MeshState:
    """What the gateway hears of the services behind it."""

    services: tuple[ServiceState, ...]
    """In the order of a request's path."""
    providers: tuple[ProviderState, ...]
    """In chain order; empty while the embedder is silent."""
    version: str
    """Version of the gateway."""

    @property
    def serving(self) -> bool:
        """Every service answers calls."""
        return all(service.health is ServiceHealth.SERVING for service in self.services)


_HEALTHS = {
    mesh_pb2.SERVICE_HEALTH_SERVING: ServiceHealth.SERVING,
    mesh_pb2.SERVICE_HEALTH_NOT_SERVING: ServiceHealth.NOT_SERVING,
    mesh_pb2.SERVICE_HEALTH_UNREACHABLE: ServiceHealth.UNREACHABLE,
}


def mesh_state_from(message: mesh_pb2.DescribeMeshResponse) -> MeshState:
    """Decodes the state of the mesh."""
    return MeshState(
        services=tuple(
            ServiceState(
                name=service.name,
                address=service.address,
                health=_HEALTHS.get(service.health, ServiceHealth.UNKNOWN),
                detail=service.detail,
                latency_ms=service.latency_ms if service.HasField("latency_ms") else None,
            )
            for service in message.services
        ),
        providers=tuple(
            ProviderState(
                name=provider.name,
                model=provider.model,
                space_id=provider.space_id,
                state=provider.state,
                last_error=provider.last_error,
                last_latency_ms=(
                    provider.last_latency_ms if provider.HasField("last_latency_ms") else None
                ),
            )
            for provider in message.providers
        ),
        version=message.version,
    )
