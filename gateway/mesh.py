"""What the services behind the gateway say of themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from typing import Protocol

from chassis.clock import Clock, monotonic
from chassis.errors import ServiceError
from gateway.embedding import Provider
from gateway.ports import Embedder


class ServiceHealth(Enum):
    """Health of one service."""

    SERVING = "serving"
    NOT_SERVING = "not_serving"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class ServiceState:
    """One service: `address` is where it is called, `detail` why it is not serving.

    `latency_ms` is None where it did not answer.
    """

    name: str
    address: str
    health: ServiceHealth
    detail: str = ""
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class MeshState:
    """Services in the order of a request's path, and the embedding providers in chain order."""

    services: tuple[ServiceState, ...]
    providers: tuple[Provider, ...]
    version: str


class HealthCheck(Protocol):
    """Asks one service for its health."""

    async def serving(self, *, timeout: float | None = None) -> bool:
        """Returns what the service says of itself; Unavailable where it does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class WatchedService:
    """A service whose health is asked for."""

    name: str
    address: str
    health: HealthCheck


class Mesh:
    """Asks every service for its health, all at once, each within `timeout_s`."""

    def __init__(
        self,
        services: Sequence[WatchedService],
        embedder: Embedder,
        *,
        timeout_s: float = 1.0,
        clock: Clock = monotonic,
    ) -> None:
        self._services = tuple(services)
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._clock = clock

    async def describe(self) -> MeshState:
        """Describes the mesh; a silent service is no error."""
        async with asyncio.TaskGroup() as together:
            asked = [together.create_task(self._ask(service)) for service in self._services]
            providers = together.create_task(self._providers())
        return MeshState(
            tuple(task.result() for task in asked), providers.result(), version("justesse")
        )

    async def state_of(self, name: str) -> ServiceState:
        """Describes one service; KeyError where no service bears the name."""
        services = {service.name: service for service in self._services}
        return await self._ask(services[name])

    async def _ask(self, service: WatchedService) -> ServiceState:
        started = self._clock()
        try:
            async with asyncio.timeout(self._timeout_s):
                serving = await service.health.serving(timeout=self._timeout_s)
        except (ServiceError, TimeoutError) as error:
            detail = str(error) or f"no answer within {self._timeout_s:g} s"
            return ServiceState(service.name, service.address, ServiceHealth.UNREACHABLE, detail)
        return ServiceState(
            service.name,
            service.address,
            ServiceHealth.SERVING if serving else ServiceHealth.NOT_SERVING,
            "" if serving else "the service says that it is not ready",
            (self._clock() - started) * 1e3,
        )

    async def _providers(self) -> tuple[Provider, ...]:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._embedder.describe_providers(timeout=self._timeout_s)
        except (ServiceError, TimeoutError):
            return ()
