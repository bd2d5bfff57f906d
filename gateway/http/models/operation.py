"""The state of the mesh in JSON."""

from __future__ import annotations

from pydantic import BaseModel

from gateway.mesh import MeshState, ServiceState


class ServiceStateBody(BaseModel):
    """One service; `health` is SERVING, NOT_SERVING or UNREACHABLE."""

    name: str
    address: str
    health: str
    detail: str
    latency_ms: float | None = None


class ProviderBody(BaseModel):
    """One embedding provider."""

    name: str
    model: str
    space_id: str
    state: str
    last_error: str
    last_latency_ms: float | None = None


class MeshBody(BaseModel):
    """The services behind the gateway, and the embedding providers in chain order."""

    services: list[ServiceStateBody]
    providers: list[ProviderBody]
    version: str


class ReadinessBody(BaseModel):
    """Whether requests can be answered now, and why not."""

    ready: bool
    retriever: ServiceStateBody


class EntranceBody(BaseModel):
    """What answers here, and the paths of its documentation, description and health."""

    name: str = "Justesse"
    documentation: str = "/docs"
    description: str = "/openapi.json"
    liveness: str = "/livez"
    readiness: str = "/readyz"


class LivenessBody(BaseModel):
    """The process runs."""

    alive: bool = True


def to_service_state_body(service: ServiceState) -> ServiceStateBody:
    """Writes the state of one service."""
    return ServiceStateBody(
        name=service.name,
        address=service.address,
        health=service.health.name,
        detail=service.detail,
        latency_ms=service.latency_ms,
    )


def to_mesh_body(mesh: MeshState) -> MeshBody:
    """Writes the state of the mesh."""
    return MeshBody(
        services=[to_service_state_body(service) for service in mesh.services],
        providers=[
            ProviderBody(
                name=provider.name,
                model=provider.model,
                space_id=provider.space_id,
                state=provider.state.value,
                last_error=provider.last_error,
                last_latency_ms=provider.last_latency_ms,
            )
            for provider in mesh.providers
        ],
        version=mesh.version,
    )
