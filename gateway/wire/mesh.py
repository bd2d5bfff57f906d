"""The state of the mesh to messages of the gateway."""

from __future__ import annotations

from gateway.embedding import Provider
from gateway.mesh import MeshState, ServiceHealth, ServiceState
from justesse.gateway.v1 import mesh_pb2

_HEALTH = {
    ServiceHealth.SERVING: mesh_pb2.SERVICE_HEALTH_SERVING,
    ServiceHealth.NOT_SERVING: mesh_pb2.SERVICE_HEALTH_NOT_SERVING,
    ServiceHealth.UNREACHABLE: mesh_pb2.SERVICE_HEALTH_UNREACHABLE,
}


def to_mesh_response(mesh: MeshState) -> mesh_pb2.DescribeMeshResponse:
    """Writes the state of the mesh."""
    return mesh_pb2.DescribeMeshResponse(
        services=map(_to_service, mesh.services),
        providers=map(_to_provider, mesh.providers),
        version=mesh.version,
    )


def _to_service(service: ServiceState) -> mesh_pb2.ServiceState:
    return mesh_pb2.ServiceState(
        name=service.name,
        address=service.address,
        health=_HEALTH[service.health],
        detail=service.detail,
        latency_ms=service.latency_ms,
    )


def _to_provider(provider: Provider) -> mesh_pb2.ProviderSummary:
    return mesh_pb2.ProviderSummary(
        name=provider.name,
        model=provider.model,
        space_id=provider.space_id,
        state=provider.state.value,
        last_error=provider.last_error,
        last_latency_ms=provider.last_latency_ms,
    )
