"""Where a process may listen, and what it says when it cannot."""

from __future__ import annotations

import ipaddress
import os
import socket

# Of sysexits.h.
EXIT_UNAVAILABLE = 69
EXIT_SOFTWARE = 70
EXIT_CONFIG = 78


class StartError(Exception):
    """The process cannot begin its work; the text says why and what to do."""

    def __init__(self, message: str, *, exit_code: int = EXIT_UNAVAILABLE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def is_loopback(host: str) -> bool:
    """Whether only processes of this machine can reach the host (a literal address or name)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_trusted_host(host: str, *, insecure: bool) -> None:
    """Refuses to serve callers of other machines without encryption, unless told to."""
    if insecure or is_loopback(host):
        return
    raise StartError(
        f"refusing to listen on {host}: other machines could reach this server, and calls are "
        "neither encrypted nor authenticated; use a loopback host such as 127.0.0.1, or set "
        "INSECURE=true if the network itself is trusted",
        exit_code=EXIT_CONFIG,
    )


def joined(host: str, port: int) -> str:
    """Returns `host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def require_free(host: str, port: int, purpose: str) -> None:
    """Raises StartError if the port cannot be listened on; `purpose` names it in the message."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        raise cannot_listen(host, port, purpose, error) from error


def cannot_listen(host: str, port: int, purpose: str, error: OSError) -> StartError:
    """Returns the error that says which port is meant and what to do."""
    why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
    return StartError(
        f"cannot listen on {joined(host, port)} ({purpose}): {why}; "
        "stop what listens there, or choose another host or port"
    )
