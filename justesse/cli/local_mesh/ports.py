"""Choosing ports: the usual ones, those the environment names, or free ones."""

import random
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from justesse.cli.local_mesh.services import (
    DEFAULT_HTTP_PORT,
    GATEWAY,
    HOST,
    MANAGEMENT_OFFSET,
    METRICS_OFFSET,
    START_ORDER,
    Layout,
    Ports,
    Service,
)

_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST_FREE_PORT = 20_000
_HIGHEST_FREE_PORT = 32_767


class PortsTakenError(Exception):
    """Some of the ports cannot be listened on; the text names them and says what to do."""


def usual_layout(environment: Mapping[str, str], port: int | None, http_port: int | None) -> Layout:
    """Gives every process its usual port, or the one that its environment variable names.

    `port` and `http_port` are those of the gateway, None for the usual ones. Raises PortsTakenError
    where something listens already, ValueError for an environment variable that is no number.
    """
    layout = {
        service.name: _usual_ports(
            service, environment, port if service is GATEWAY else None, http_port
        )
        for service in START_ORDER
    }
    taken = [
        f"{number} ({name})"
        for name, ports in layout.items()
        for number in ports.all()
        if not is_free(number)
    ]
    if taken:
        raise PortsTakenError(
            f"something listens already on {', '.join(taken)}; "
            "stop it (another mesh?), or let free ports be chosen with --free-ports"
        )
    return layout


def free_layout(port: int | None, http_port: int | None) -> Layout:
    """Gives every process ports that nothing listens on; those of the gateway can be named."""
    numbers = free_ports()
    layout: dict[str, Ports] = {}
    for service in START_ORDER:
        business, management, metrics = next(numbers), next(numbers), next(numbers)
        http = None
        if service is GATEWAY:
            business, http = port or business, http_port or next(numbers)
        layout[service.name] = Ports(business, management, metrics, http)
    return layout


def free_ports() -> Iterator[int]:
    """Yields ports that nothing listens on, each once.

    They lie below the range from which the system takes the ports of outgoing connections: one of
    that range could be taken by a connection of the mesh itself before its owner has started.
    """
    for number in random.sample(range(_LOWEST_FREE_PORT, _highest_free_port() + 1), k=5_000):
        if is_free(number):
            yield number


def is_free(port: int) -> bool:
    """Tells whether the port can be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def _usual_ports(
    service: Service, environment: Mapping[str, str], chosen: int | None, http_port: int | None
) -> Ports:
    def number(name: str, otherwise: int) -> int:
        variable = service.prefix + name
        text = environment.get(variable)
        if text is None:
            return otherwise
        if not text.isdecimal() or not 0 < int(text) < 65_536:
            raise ValueError(f"{variable}={text!r} is no port; expected a number from 1 to 65535")
        return int(text)

    business = chosen or number("PORT", service.default_port)
    return Ports(
        business,
        number("MANAGEMENT_PORT", business + MANAGEMENT_OFFSET),
        number("METRICS_PORT", business + METRICS_OFFSET),
        http_port or number("HTTP_PORT", DEFAULT_HTTP_PORT) if service is GATEWAY else None,
    )


def _highest_free_port() -> int:
    try:
        lowest_ephemeral = int(_EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGHEST_FREE_PORT
    # A machine that hands out nearly all ports leaves no range of its own.
    if lowest_ephemeral - 6_000 < _LOWEST_FREE_PORT:
        return _HIGHEST_FREE_PORT
    return min(lowest_ephemeral - 1, _HIGHEST_FREE_PORT)
