"""Where commands find the gateway, and the file by which `up` tells them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from justesse.cli.command_line import CommandError
from justesse.cli.exit_codes import ExitCode
from justesse.cli.system_errors import words_of
from justesse.client import DEFAULT_ADDRESS
from justesse.client.address import checked_address

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
    uses by default. Raises CommandError for an address that cannot be dialled, and for a named file
    that does not say one.
    """
    if given is not None:
        return _checked(given, "--address or JUSTESSE_ADDRESS")
    path = _address_file()
    if path is None:
        return DEFAULT_ADDRESS
    address = _content_of(path).get("address")
    if not isinstance(address, str):
        raise CommandError(f"the address file {path} names no address")
    return _checked(address, f"the address file {path}")


def web_addresses(address: str) -> dict[str, str]:
    """Returns "HTTP" and "Docs" of the gateway at `address`, where an address file tells them."""
    path = _address_file()
    if path is None or not path.is_file():
        return {}
    content = _content_of(path)
    if content.get("address") != address:
        return {}
    told = {"HTTP": content.get("http"), "Docs": content.get("docs")}
    return {name: value for name, value in told.items() if isinstance(value, str)}


def _address_file() -> Path | None:
    named = os.environ.get(ADDRESS_FILE_VARIABLE)
    if named:
        return Path(named)
    usual = DEFAULT_DATA_FOLDER / ADDRESS_FILE_NAME
    return usual if usual.is_file() else None


def _checked(address: str, origin: str) -> str:
    try:
        checked_address(address)
    except ValueError as error:
        raise CommandError(f"{origin}: {error}", ExitCode.USAGE) from error
    return address


def _content_of(path: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise CommandError(f"the address file {path} cannot be read: {words_of(error)}") from error
    except orjson.JSONDecodeError as error:
        raise CommandError(f"the address file {path} is not JSON: {error}") from error
    return content if isinstance(content, dict) else {}
