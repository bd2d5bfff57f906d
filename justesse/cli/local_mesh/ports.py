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
_LARGEST_PORT = 65_535
_LOWEST_FREE_PORT = 20_000
_HIGHEST_FREE_PORT = 32_767


class PortsTakenError(Exception):
    """Some of the ports cannot be listened on; the text names them and says what to do."""


def usual_layout(environment: Mapping[str, str], port: int | None, http_port: int | None) -> Layout:
    """Gives every process its usual port, or the one that its environment variable names.

    `port` and `http_port` are those of the gateway, None for the usual ones. Raises PortsTakenError
    where something listens already, ValueError for what is no port or given to two doors.
    """
    layout = {
        service.name: _usual_ports(
            service, environment, port if service is GATEWAY else None, http_port
        )
        for service in START_ORDER
    }
    _check_distinct(layout)
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
    """Gives every process ports that nothing listens on; those of the gateway can be named.

    Raises PortsTakenError where something listens on a named one, ValueError where they are equal.
    """
    named = {"--port": port, "--http-port": http_port}
    if port is not None and port == http_port:
        raise ValueError(f"--port and --http-port are both {port}; choose two ports")
    for option, number in named.items():
        if number is not None and not is_free(number):
            raise PortsTakenError(
                f"something listens already on {number} ({option}); stop it (another mesh?), or "
                f"leave {option} out: --free-ports finds a port"
            )
    numbers = (number for number in free_ports() if number not in named.values())
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
        if not text.isdecimal() or not 0 < int(text) <= _LARGEST_PORT:
            raise ValueError(f"{variable}={text!r} is no port; expected a number from 1 to 65535")
        return int(text)

    business = chosen or number("PORT", service.default_port)
    return Ports(
        business,
        number("MANAGEMENT_PORT", _beside(business, MANAGEMENT_OFFSET)),
        number("METRICS_PORT", _beside(business, METRICS_OFFSET)),
        http_port or number("HTTP_PORT", DEFAULT_HTTP_PORT) if service is GATEWAY else None,
    )


def _beside(port: int, offset: int) -> int:
    """Returns the port at a distance, below where there is none above."""
    return port + offset if port + offset <= _LARGEST_PORT else port - offset


def _check_distinct(layout: Layout) -> None:
    owners: dict[int, str] = {}
    for name, ports in layout.items():
        for number in ports.all():
            if number in owners:
                raise ValueError(
                    f"port {number} is given twice, to {owners[number]} and {name}; give each its "
                    "own, or let free ports be chosen with --free-ports"
                )
            owners[number] = name


def _highest_free_port() -> int:
    try:
        lowest_ephemeral = int(_EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGHEST_FREE_PORT
    # A machine that hands out nearly all ports leaves no range of its own.
    if lowest_ephemeral - 6_000 < _LOWEST_FREE_PORT:
        return _HIGHEST_FREE_PORT
    return min(lowest_ephemeral - 1, _HIGHEST_FREE_PORT)
