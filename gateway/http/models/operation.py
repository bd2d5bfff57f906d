"""Switches and the state of the mesh in JSON."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gateway.http.models.values import RequestBody
from gateway.mesh import MeshState, ServiceState
from gateway.switches.board import BoardState, SwitchState
from gateway.switches.values import written


class SetSwitchBody(RequestBody):
    """A new value."""

    value: str = Field(description='"true", "false" or a number, as text')


class SwitchBody(BaseModel):
    """One switch; `origin` is DEFAULT, DATABASE or LAST_GOOD."""

    key: str
    value: str
    default_value: str
    description: str
    origin: str
    error: str


class SwitchesBody(BaseModel):
    """All switches by key; without `refresh_time` the table was never read."""

    switches: list[SwitchBody]
    refresh_time: datetime | None = None
    refresh_error: str


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


class LivenessBody(BaseModel):
    """The process runs."""

    alive: bool = True


def to_switch_body(state: SwitchState) -> SwitchBody:
    """Writes one switch."""
    return SwitchBody(
        key=state.definition.key,
        value=written(state.value),
        default_value=written(state.definition.default),
        description=state.definition.description,
        origin=state.origin.name,
        error=state.error,
    )


def to_switches_body(board: BoardState) -> SwitchesBody:
    """Writes all switches."""
    return SwitchesBody(
        switches=[to_switch_body(state) for state in board.switches],
        refresh_time=board.refresh_time,
        refresh_error=board.refresh_error,
    )


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
