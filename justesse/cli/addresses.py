"""Where commands find the gateway, and the file by which `up` tells them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from justesse.cli.command_line import CommandError
from justesse.client import DEFAULT_ADDRESS

DEFAULT_DATA_FOLDER = Path("justesse-data")
ADDRESS_FILE_NAME = "address.json"
ADDRESS_FILE_VARIABLE = "JUSTESSE_ADDRESS_FILE"


@dataclass(frozen=True, slots=True)
class MeshAddresses:
    """Where a mesh listens."""

    address: str
    """gRPC address of the gateway."""
    http: str
    docs: str
    data_folder: str
    log_folder: str
    pid: int
    """Process that supervises the mesh."""
    services: Mapping[str, Mapping[str, Any]]
    """Addresses of every process by name."""


def write_address_file(path: Path, addresses: MeshAddresses) -> None:
    """Writes the file in one step, so that a reader never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    draft.write_bytes(orjson.dumps(addresses, option=orjson.OPT_INDENT_2))
    draft.replace(path)


def gateway_address(given: str | None) -> str:
    """Returns the gateway's address: as given, from a mesh's address file, or the usual one.

    The file is the one that JUSTESSE_ADDRESS_FILE names, else that of the data folder that `up`
    uses by default. Raises CommandError for a named file that does not say an address.
    """
    if given:
        return given
    named = os.environ.get(ADDRESS_FILE_VARIABLE)
    if named:
        return _address_in(Path(named))
    usual = DEFAULT_DATA_FOLDER / ADDRESS_FILE_NAME
    return _address_in(usual) if usual.is_file() else DEFAULT_ADDRESS


def _address_in(path: Path) -> str:
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise CommandError(f"the address file {path} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise CommandError(f"the address file {path} is not JSON: {error}") from error
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str):
        raise CommandError(f"the address file {path} names no address")
    return address
