"""`justesse status` and `justesse version`."""

from importlib.metadata import version as installed_version

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address, web_addresses
from justesse.cli.exit_codes import ExitCode
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.tables import fitting, new_table, number
from justesse.client import Justesse, MeshState, ServiceHealth

_HEALTH_STYLES = {
    ServiceHealth.SERVING: "green",
    ServiceHealth.NOT_SERVING: "bold yellow",
    ServiceHealth.UNREACHABLE: "bold red",
    ServiceHealth.UNKNOWN: "yellow",
}


def status(
    address: AddressOption = None, timeout: TimeoutOption = 10.0, as_json: JsonOption = False
) -> None:
    """Show the health of every service; exit code 1 if one of them does not serve."""
    target = gateway_address(address)
    with Justesse(target) as justesse:
        state = justesse.describe_mesh(timeout=timeout)
    show(state, as_json, lambda console: _draw(console, target, state))
    if not state.serving:
        raise typer.Exit(ExitCode.SOME_FAILED)


def version(as_json: JsonOption = False) -> None:
    """Show the version of this program."""
    number_text = installed_version("justesse")
    show(
        {"version": number_text},
        as_json,
        lambda console: console.print(plain(f"justesse {number_text}")),
    )


def version_option(wanted: bool) -> None:
    """Shows the version and ends the command, if wanted."""
    if wanted:
        version()
        raise typer.Exit


def _draw(console: Console, address: str, state: MeshState) -> None:
    console.print(plain(f"Gateway {state.version} at {address}"))
    for name, value in web_addresses(address).items():
        console.print(plain(f"{name} {value}"), soft_wrap=True)
    console.print()
    services = new_table()
    for name in ("Service", "Address"):
        services.add_column(name, no_wrap=True)
    services.add_column("Health", no_wrap=True)
    services.add_column("ms", justify="right")
    services.add_column("Detail")
    for service in state.services:
        services.add_row(
            plain(service.name),
            plain(service.address),
            plain(service.health.replace("_", " "), _HEALTH_STYLES[service.health]),
            number(service.latency_ms, 1),
            plain(service.detail),
        )
    console.print(fitting(console, services))
    if not state.providers:
        return
    console.print()
    providers = new_table()
    providers.add_column("Embedder", no_wrap=True)
    providers.add_column("State", no_wrap=True)
    providers.add_column("ms", justify="right")
    providers.add_column("Space", overflow="fold")
    failed = any(provider.last_error for provider in state.providers)
    if failed:
        providers.add_column("Last error")
    for provider in state.providers:
        providers.add_row(
            plain(provider.name),
            plain(provider.state, "green" if provider.state == "available" else "yellow"),
            number(provider.last_latency_ms, 1),
            plain(provider.space_id),
            *([plain(provider.last_error)] if failed else []),
        )
    console.print(fitting(console, providers))
