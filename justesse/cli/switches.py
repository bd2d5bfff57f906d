"""`justesse switches`: shows and sets what is turned on and off without a restart."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.switch_changes import list_changes
from justesse.cli.switch_rules import overrides, rollouts
from justesse.cli.tables import fitting, moment, new_table
from justesse.client import Justesse, Switch, Switches

app = typer.Typer(help="List, set and refresh switches, also for one workspace or some queries.")
app.add_typer(overrides, name="overrides")
app.add_typer(rollouts, name="rollouts")
app.command("changes")(list_changes)


@app.command("list")
def list_all(
    address: AddressOption = None, timeout: TimeoutOption = 30.0, as_json: JsonOption = False
) -> None:
    """List all switches with the values in force and where they come from."""
    with Justesse(gateway_address(address)) as justesse:
        switches = justesse.describe_switches(timeout=timeout)
    show(switches, as_json, lambda console: _draw(console, switches))


@app.command("set")
def set_one(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Key, for example rag_reranking_enabled.")
    ],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="true, false or a number.")],
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Set a switch, in force at once."""
    with Justesse(gateway_address(address)) as justesse:
        switch = justesse.set_switch(key, value, timeout=timeout)
    show(
        switch, as_json, lambda console: console.print(plain(f"{switch.key} is now {switch.value}"))
    )


@app.command()
def refresh(
    address: AddressOption = None, timeout: TimeoutOption = 30.0, as_json: JsonOption = False
) -> None:
    """Have every gateway read the switches from the database now; exit code 1 if that failed.

    Otherwise they are read every five minutes.
    """
    with Justesse(gateway_address(address)) as justesse:
        switches = justesse.refresh_switches(timeout=timeout)
    show(switches, as_json, lambda console: _draw(console, switches))
    if switches.refresh_error:
        raise typer.Exit(ExitCode.SOME_FAILED)


def _draw(console: Console, switches: Switches) -> None:
    table = new_table()
    table.add_column("Switch", no_wrap=True)
    table.add_column("Value", justify="right")
    table.add_column("Default", justify="right")
    table.add_column("From", no_wrap=True)
    table.add_column("What it does")
    for switch in switches.switches:
        table.add_row(
            plain(switch.key),
            plain(switch.value, "bold" if switch.value != switch.default_value else ""),
            plain(switch.default_value),
            switch.origin.replace("_", " "),
            _remark(switch),
        )
    console.print(fitting(console, table))
    console.print()
    for rollout in switches.rollouts:
        console.print(
            plain(f"Rollout: {rollout.key} is {rollout.value} for {rollout.percent:g} % of queries")
        )
    age = "" if switches.age_s is None else f", {switches.age_s:.0f} s ago"
    console.print(plain(f"Read from the database: {moment(switches.refresh_time)}{age}", "dim"))
    if switches.refresh_error:
        console.print(plain(f"The last refresh failed: {switches.refresh_error}", "bold red"))
    if switches.rules_error:
        console.print(
            plain(f"Overrides and rollouts were not read: {switches.rules_error}", "bold red")
        )


def _remark(switch: Switch) -> Text:
    remark = plain(switch.description)
    if switch.error:
        remark.append("\n")
        remark.append_text(plain(switch.error, "bold red"))
    return remark
