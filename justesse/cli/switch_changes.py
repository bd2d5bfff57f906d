"""`justesse switches changes`: who changed which switch, and when."""

from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.tables import fitting, moment, new_table
from justesse.client import Justesse, SwitchChange


def list_changes(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=500, help="Changes wanted.")
    ] = 50,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """List who changed which switch and when, the latest first."""
    with Justesse(gateway_address(address)) as justesse:
        page = justesse.list_switch_changes(limit, timeout=timeout)
    show(page.changes, as_json, lambda console: _draw(console, page.changes))


def _draw(console: Console, changes: tuple[SwitchChange, ...]) -> None:
    if not changes:
        console.print(plain("Nothing was changed yet."))
        return
    table = new_table()
    table.add_column("When", no_wrap=True)
    table.add_column("Who", overflow="fold")
    table.add_column("What", overflow="fold")
    table.add_column("From", justify="right")
    table.add_column("To", justify="right")
    for change in changes:
        what = change.key if not change.workspace else f"{change.key} in {change.workspace}"
        table.add_row(
            moment(change.change_time),
            plain(change.actor),
            plain(f"{change.kind}: {what}"),
            plain("-" if change.old_value is None else change.old_value),
            plain("-" if change.new_value is None else change.new_value),
        )
    console.print(fitting(console, table))
