"""`justesse spaces`: switches a workspace between its vector spaces, and drops those not needed."""

import sys
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.wording import counted
from justesse.client import Justesse

app = typer.Typer(
    help="Switch a workspace between its vector spaces, and drop spaces "
    "(workspaces describe lists them).",
    no_args_is_help=False,
)

SlugArgument = Annotated[str, typer.Argument(metavar="SLUG", help="Workspace to work in.")]
SpaceArgument = Annotated[
    str, typer.Argument(metavar="SPACE", help="Id of the space, as workspaces describe shows it.")
]


@app.command()
def switch(
    slug: SlugArgument,
    space_id: SpaceArgument,
    require_complete: Annotated[
        bool,
        typer.Option("--require-complete", help="Refuse while a passage has no vector in it."),
    ] = False,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Make a space the preferred one, at once: also the undo of a re-embedding."""
    with Justesse(gateway_address(address)) as justesse:
        switched = justesse.switch_space(
            slug, space_id, require_complete=require_complete, timeout=timeout
        )
    text = f"{slug} prefers {space_id} now, before: {switched.previous_space_id or 'none'}."
    if switched.awaiting_passage_count:
        text += (
            f" {counted(switched.awaiting_passage_count, 'passage')} not yet in it, found where "
            "they are until they were moved."
        )
    show(switched, as_json, lambda console: console.print(plain(text)))


@app.command()
def drop(
    slug: SlugArgument,
    space_id: SpaceArgument,
    leave_waiting: Annotated[
        bool,
        typer.Option(
            "--leave-waiting",
            help="Drop it though the preferred space lacks passages that are in it, as its model "
            "refuses them: words alone find them then.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete the vectors of a space that rests; switching back to it is over then."""
    if not yes:
        _confirm(slug, space_id)
    with Justesse(gateway_address(address)) as justesse:
        dropped = justesse.drop_space(slug, space_id, leave_waiting=leave_waiting)
    text = f"Dropped {counted(dropped.vector_count, 'vector')} of {space_id}."
    show(dropped, as_json, lambda console: console.print(plain(text)))


def _confirm(slug: str, space_id: str) -> None:
    if not sys.stdin.isatty():
        raise CommandError(
            "dropping a space cannot be undone; say --yes to do it without being asked",
            ExitCode.USAGE,
        )
    if not typer.confirm(f"Drop space {space_id} of workspace {slug} for good?", err=True):
        raise CommandError("nothing was dropped", ExitCode.SOME_FAILED)
