"""Addresses of servers that are told as a host, with scheme and port left out."""

from __future__ import annotations


def base_url_of(host: str, default_port: int) -> str:
    """Returns the URL that a host stands for: http and the default port unless it says otherwise.

    Where a server listens everywhere (0.0.0.0), a client calls it on this machine.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", host.strip()
    authority, slash, path = rest.partition("/")
    if ":" not in authority.rpartition("]")[2] and scheme == "http":
        authority = f"{authority}:{default_port}"
    if authority.startswith("0.0.0.0:"):
        authority = f"127.0.0.1:{authority.partition(':')[2]}"
    return f"{scheme}://{authority}{slash}{path}".rstrip("/")
