"""Which addresses the gateway may listen on, as its callers need keys or not.

On loopback anything goes. Elsewhere callers need keys, whatever becomes of the database later, or
the operator says that the network is trusted.
"""

from __future__ import annotations

from pathlib import Path

import structlog

from chassis.binding import EXIT_CONFIG, StartError, is_loopback
from chassis.errors import ServiceError
from chassis.server_settings import ServerSettings
from gateway.access.access import AccessMode
from gateway.access.bootstrap_key import BootstrapKey
from gateway.access.key_ring import KeyRing

_log = structlog.get_logger("gateway.access")


def bootstrap_key_of(file: Path | None) -> BootstrapKey | None:
    """Returns the key of a file, None where none is named; StartError where it holds none."""
    return None if file is None else BootstrapKey(file)


async def trusted_mode(server: ServerSettings, mode: AccessMode, ring: KeyRing) -> AccessMode:
    """Returns when callers need keys at the address of the server.

    Raises StartError where other machines could reach it, nobody would need a key, and nobody said
    that this is meant.
    """
    try:
        any_key = await ring.any_ever()
    except ServiceError:
        any_key = None
    if mode is AccessMode.KEYS and not any_key:
        _log.warning(
            "callers need keys and there is none; name one in JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE"
        )
    if is_loopback(server.host) or server.insecure or mode is AccessMode.KEYS:
        return mode
    if mode is AccessMode.AUTO and any_key is not False:
        # A database that is empty the next time must not open the door.
        return AccessMode.KEYS
    raise StartError(
        f"refusing to listen on {server.host}: other machines could reach this gateway, and its "
        "callers need no keys; use a loopback host such as 127.0.0.1, make a key (by "
        "JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE) or set JUSTESSE_GATEWAY_ACCESS=keys, or set "
        "INSECURE=true if the network itself is trusted",
        exit_code=EXIT_CONFIG,
    )
