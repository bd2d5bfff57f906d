"""`justesse keys`: who may call the gateway, and what they may do there."""

import os
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.filter_expressions import FORM, filter_from_expressions
from justesse.cli.key_file import new_key, new_key_file
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, remarks, show
from justesse.cli.tables import fitting, moment, new_table
from justesse.client import EVERY_WORKSPACE, Action, CreatedKey, Grant, Justesse, Key
from justesse.client.filters import Filter

app = typer.Typer(help="Create, list and revoke API keys.")

_GRANT_FORM = "WORKSPACE:ACTIONS, for example handbook:read, handbook:read,write or '*:admin'"


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    grants: Annotated[
        list[str],
        typer.Option(
            "--grant",
            metavar="WORKSPACE:ACTIONS",
            help="What it may do: read, write, admin (both and more), by commas; * for all "
            "workspaces that no other grant names. May be given several times.",
        ),
    ],
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help=f"Bind all its grants to documents that fulfil this: {FORM} May be given several "
            "times; then all must hold.",
        ),
    ] = None,
    expires_in_days: Annotated[
        float | None,
        typer.Option("--expires-in-days", min=0.0001, max=1e6, help="Never, if not given."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            help="Write the key into this new file instead of showing it.",
        ),
    ] = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Create a key and show it, this once; the first one closes the gateway to all others."""
    bound = filter_from_expressions(filters or [])
    wanted = [grant_of(text, bound) for text in grants]
    expire_time = None
    if expires_in_days is not None:
        expire_time = datetime.now(UTC) + timedelta(days=expires_in_days)
    with ExitStack() as stack:
        write = None if key_file is None else stack.enter_context(new_key_file(key_file))
        justesse = stack.enter_context(Justesse(gateway_address(address)))
        created = justesse.create_key(name, wanted, expire_time=expire_time, timeout=timeout)
        if write is not None:
            write(created.api_key)
    shown: dict[str, object] = {"key": _listed(created.key)}
    if key_file is None:
        shown["api_key"] = created.api_key
    show(shown, as_json, lambda console: _draw_created(console, created, key_file))


@app.command("list")
def list_all(
    address: AddressOption = None, timeout: TimeoutOption = 30.0, as_json: JsonOption = False
) -> None:
    """List all keys, the latest first, without their secrets."""
    with Justesse(gateway_address(address)) as justesse:
        keys = justesse.list_keys(timeout=timeout)
    show(list(map(_listed, keys)), as_json, lambda console: _draw(console, keys))


@app.command()
def revoke(
    prefix: Annotated[
        str, typer.Argument(metavar="PREFIX", help="First part of the key, as list shows it.")
    ],
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: within a minute no gateway serves it."""
    with Justesse(gateway_address(address)) as justesse:
        key = justesse.revoke_key(prefix, timeout=timeout)
    show(_listed(key), as_json, lambda console: console.print(plain(f"Revoked {key.prefix}.")))


@app.command()
def generate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file for the key.")],
) -> None:
    """Write a fresh key into a file, asking no gateway: one for the bootstrap file or a Secret."""
    with new_key_file(file) as write:
        write(new_key())
    remarks().print(
        plain(f"Start the gateway with JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE={os.path.abspath(file)}")
    )


def grant_of(text: str, bound: Filter | None) -> Grant:
    """Reads WORKSPACE:ACTIONS; CommandError for anything else."""
    workspace, colon, listed = text.partition(":")
    actions = {action.value: action for action in Action}
    named = [name.strip().lower() for name in listed.split(",")]
    unknown = [name for name in named if name not in actions]
    if not (workspace.strip() and colon) or unknown:
        raise CommandError(f"--grant: {text!r} is not {_GRANT_FORM}", ExitCode.USAGE)
    return Grant(workspace.strip(), [actions[name] for name in named], bound)


def _listed(key: Key) -> dict[str, object]:
    """Returns what JSON shows of a key; filters only as being there."""
    return {
        "prefix": key.prefix,
        "name": key.name,
        "grants": [
            {
                "workspace": grant.workspace,
                "actions": [action.value for action in grant.actions],
                "filtered": grant.filter is not None,
            }
            for grant in key.grants
        ],
        "create_time": key.create_time,
        "expire_time": key.expire_time,
        "revoke_time": key.revoke_time,
        "creator": key.creator,
    }


def _draw_created(console: Console, created: CreatedKey, key_file: Path | None) -> None:
    if key_file is not None:
        console.print(plain(f"Wrote key {created.key.prefix} into {key_file}."))
        return
    console.print(plain(created.api_key), soft_wrap=True)
    remarks().print(
        plain(
            "This is the only time that the key is shown. Send it as 'authorization: Bearer KEY', "
            "or put it into a file and name that with --api-key-file."
        )
    )


def _draw(console: Console, keys: tuple[Key, ...]) -> None:
    if not keys:
        console.print(plain("There are no keys: whoever reaches the gateway may do everything."))
        return
    table = new_table()
    # In one piece, since it is what revoking asks for.
    table.add_column("Prefix", no_wrap=True)
    for heading in ("Name", "May", "Created", "By", "Ends"):
        table.add_column(heading, overflow="fold")
    for key in keys:
        table.add_row(
            plain(key.prefix, "dim" if key.revoke_time else ""),
            plain(key.name),
            plain("\n".join(map(_in_words, key.grants))),
            moment(key.create_time),
            plain(key.creator),
            plain(_end_of(key)),
        )
    console.print(fitting(console, table))


def _in_words(grant: Grant) -> str:
    place = "all" if grant.workspace == EVERY_WORKSPACE else grant.workspace
    words = f"{place}: {', '.join(action.value for action in grant.actions)}"
    return words if grant.filter is None else f"{words} (filtered)"


def _end_of(key: Key) -> str:
    if key.revoke_time is not None:
        return f"revoked {key.revoke_time:%Y-%m-%d %H:%M}"
    return "never" if key.expire_time is None else f"{key.expire_time:%Y-%m-%d %H:%M} UTC"
