"""The address of a gateway, checked before anything is dialled.

gRPC takes almost any text: without a port it dials 443, and a port out of range or a web address
fails only later, in words that name no cause.
"""

import re

_EXAMPLE = "give HOST:PORT of the gateway, for example 127.0.0.1:50050"
_GRPC_TARGET = re.compile(r"(?:dns|unix|unix-abstract|ipv4|ipv6|vsock|xds|passthrough):[^\d\s].*")
_LARGEST_PORT = 65_535


def checked_address(address: str) -> str:
    """Returns the address: "host:port", "[ipv6]:port", or a target of gRPC's own ("dns:...").

    "https://" before it asks for encryption and is left out here. Raises ValueError, which says
    what is wrong and what is expected.
    """
    if not address.strip():
        raise ValueError(f"the address is empty; {_EXAMPLE}")
    if re.search(r"\s", address):
        raise ValueError(f"the address {address!r} holds a blank; {_EXAMPLE}")
    address = address.removeprefix("https://").removesuffix("/")
    if address.startswith("http://"):
        raise ValueError(
            f"the address {address!r} is that of a web page; {_EXAMPLE}, without http://"
        )
    if _GRPC_TARGET.fullmatch(address) and not address.partition(":")[2].isdecimal():
        return address
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        raise ValueError(f"the address {address!r} names no port; {_EXAMPLE}")
    if not host or "/" in address:
        raise ValueError(f"the address {address!r} is not HOST:PORT; {_EXAMPLE}")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError(f"the address {address!r} has a colon too many; write [IPV6]:PORT")
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) <= _LARGEST_PORT):
        raise ValueError(
            f"the port {port!r} in the address {address!r} is not a number from 1 to 65535"
        )
    return address
