"""The commands of `justesse`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from justesse.cli import documents, glossary, jobs, keys, spaces, switches, up, workspaces
from justesse.cli.answer import answer
from justesse.cli.command_line import CommandLine
from justesse.cli.context import context
from justesse.cli.demonstration import demo
from justesse.cli.evaluation import application as evaluation
from justesse.cli.exit_codes import EXPLANATION
from justesse.cli.explain import explain
from justesse.cli.ingest import ingest
from justesse.cli.rechunk import rechunk
from justesse.cli.reembed import reembed
from justesse.cli.search import search
from justesse.cli.status import status, version, version_option
from justesse.client.destination import KEY_FILE_VARIABLE, KEY_VARIABLE
from justesse.client.encryption import CA_FILE_VARIABLE

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
app.command()(answer)
app.command()(explain)
app.command()(context)
app.add_typer(workspaces.app, name="workspaces")
app.command()(reembed)
app.add_typer(spaces.app, name="spaces")
app.add_typer(documents.app, name="documents")
app.add_typer(glossary.app, name="glossary")
app.add_typer(jobs.app, name="jobs")
app.add_typer(keys.app, name="keys")
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
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            "--api-key-file",
            help="File that holds the API key of the gateway; without it, "
            f"{KEY_FILE_VARIABLE} names one or {KEY_VARIABLE} holds the key.",
        ),
    ] = None,
    tls_ca: Annotated[
        Path | None,
        typer.Option(
            "--tls-ca",
            help="File with the CAs (PEM) that the certificate of the gateway comes from; calls "
            f"are encrypted then. {CA_FILE_VARIABLE} names one too.",
        ),
    ] = None,
) -> None:
    """Find the passage that answers."""
    if tls_ca is not None:
        os.environ[CA_FILE_VARIABLE] = str(tls_ca)
    if api_key_file is not None:
        # Where every client that a command opens looks for it.
        os.environ.pop(KEY_VARIABLE, None)
        os.environ[KEY_FILE_VARIABLE] = str(api_key_file)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
