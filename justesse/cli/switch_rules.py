"""`justesse switches overrides` and `rollouts`: other values for one workspace, or some queries."""

from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import plain, show
from justesse.client import Justesse

overrides = typer.Typer(help="List, set and clear values of switches for one workspace.")
rollouts = typer.Typer(help="Begin and end values of switches for a share of the queries.")

KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="Key, for example rag_reranking_enabled.")
]
ValueArgument = Annotated[str, typer.Argument(metavar="VALUE", help="true, false or a number.")]


@overrides.command("list")
def list_overrides(
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """List the values that a workspace has for itself."""
    with Justesse(gateway_address(address)) as justesse:
        found = justesse.list_switch_overrides(workspace, timeout=timeout)

    def draw(console: Console) -> None:
        for key, value in found.items():
            console.print(plain(f"{key} is {value} in {workspace}"), soft_wrap=True)
        if not found:
            console.print(plain(f"The workspace {workspace} has no overrides."))

    show(dict(found), as_json, draw)


@overrides.command("set")
def set_override(
    key: KeyArgument,
    value: ValueArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Give a switch another value in one workspace."""
    with Justesse(gateway_address(address)) as justesse:
        now = justesse.set_switch_override(workspace, key, value, timeout=timeout)
    show(
        {"workspace": workspace, "key": key, "value": now},
        as_json,
        lambda console: console.print(plain(f"{key} is now {now} in {workspace}")),
    )


@overrides.command("clear")
def clear_override(
    key: KeyArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """End the value of a switch in one workspace."""
    with Justesse(gateway_address(address)) as justesse:
        cleared = justesse.clear_switch_override(workspace, key, timeout=timeout)
    words = f"{key} is that of all workspaces again in {workspace}"
    if not cleared:
        words = f"{key} had no value of its own in {workspace}"
    show({"cleared": cleared}, as_json, lambda console: console.print(plain(words)))


@rollouts.command("set")
def set_rollout(
    key: KeyArgument,
    value: ValueArgument,
    percent: Annotated[
        float, typer.Option("--percent", "-p", help="Share of the queries, over 0, up to 100.")
    ],
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Give a switch another value for a share of the queries, always the same ones.

    switches list shows what is on; a receipt says what became of its query.
    """
    with Justesse(gateway_address(address)) as justesse:
        rollout = justesse.set_switch_rollout(key, value, percent, timeout=timeout)
    words = f"{rollout.key} is now {rollout.value} for {rollout.percent:g} % of the queries"
    show(rollout, as_json, lambda console: console.print(plain(words)))


@rollouts.command("end")
def end_rollout(
    key: KeyArgument,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """End a rollout: all queries meet the same value again."""
    with Justesse(gateway_address(address)) as justesse:
        cleared = justesse.clear_switch_rollout(key, timeout=timeout)
    words = f"{key} has one value again" if cleared else f"{key} was not rolled out"
    show({"cleared": cleared}, as_json, lambda console: console.print(plain(words)))
