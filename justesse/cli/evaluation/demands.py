"""Figures that a run must reach, so that a script may fail under them."""

from collections.abc import Sequence

import typer

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.output import remarks
from justesse.evaluation.comparison import Demand
from justesse.evaluation.results import WHOLE, RunResult


def demands_of(texts: Sequence[str]) -> tuple[Demand, ...]:
    """Reads the demands of a command line."""
    try:
        return tuple(map(Demand.parsed, texts))
    except ValueError as error:
        raise CommandError(f"--require: {error}", ExitCode.USAGE) from error


def check_demands(demands: Sequence[Demand], result: RunResult) -> None:
    """Ends the command with SOME_FAILED if the last configuration misses a demand."""
    last = result.configurations[-1]
    missed = [
        f"{demand.figure} of {last.name} is {reached:.3f}, under {demand.least:g}"
        for demand in demands
        if (reached := last.estimates[demand.figure][WHOLE].mean) < demand.least
    ]
    for line in missed:
        remarks().print(line)
    if missed:
        raise typer.Exit(ExitCode.SOME_FAILED)
