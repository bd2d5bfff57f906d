"""The commands of `justesse`."""

from typing import Annotated

import typer

from justesse.cli import documents, glossary, jobs, spaces, switches, up, workspaces
from justesse.cli.command_line import CommandLine
from justesse.cli.demonstration import demo
from justesse.cli.evaluation import application as evaluation
from justesse.cli.exit_codes import EXPLANATION
from justesse.cli.explain import explain
from justesse.cli.ingest import ingest
from justesse.cli.rechunk import rechunk
from justesse.cli.reembed import reembed
from justesse.cli.search import search
from justesse.cli.status import status, version, version_option

app = typer.Typer(
    name="justesse",
    cls=CommandLine,
    help="Find the passage that answers.",
    epilog=EXPLANATION,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=True,
)

app.command(help=up.HELP)(up.up)
app.command()(ingest)
app.command()(rechunk)
app.command()(search)
app.command()(explain)
app.add_typer(workspaces.app, name="workspaces")
app.command()(reembed)
app.add_typer(spaces.app, name="spaces")
app.add_typer(documents.app, name="documents")
app.add_typer(glossary.app, name="glossary")
app.add_typer(jobs.app, name="jobs")
app.add_typer(switches.app, name="switches")
app.add_typer(evaluation.app, name="eval")
app.command()(status)
app.command("version")(version)
app.command()(demo)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=version_option,
            is_eager=True,
            help="Show the version of this program.",
        ),
    ] = False,
) -> None:
    """Find the passage that answers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
