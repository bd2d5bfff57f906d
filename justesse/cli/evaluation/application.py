"""The commands of `justesse eval`."""

import typer

from justesse.cli.evaluation.compare import compare
from justesse.cli.evaluation.run import run
from justesse.cli.evaluation.score import score

app = typer.Typer(help="Measure on labelled questions how well a mesh finds what answers.")

app.command()(run)
app.command()(compare)
app.command()(score)
