"""`justesse eval compare`: two runs against each other, question by question."""

from pathlib import Path
from typing import Annotated

import typer

from justesse.cli.evaluation.tables import draw_comparisons
from justesse.cli.exit_codes import ExitCode
from justesse.cli.options import JsonOption
from justesse.cli.output import remarks, show
from justesse.evaluation.comparison import comparisons
from justesse.evaluation.report.result_file import read_values


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="result.json of a run.")],
    now: Annotated[Path, typer.Argument(metavar="NOW", help="result.json of a later run.")],
    allow_worse: Annotated[
        bool,
        typer.Option(
            "--allow-worse", help="Do not fail where a figure became significantly worse."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs; fail if a figure became significantly worse."""
    found = comparisons(read_values(before), read_values(now))
    show(found, as_json, lambda console: draw_comparisons(console, found))
    worse = [each for each in found if each.difference.significant and each.difference.mean < 0]
    if worse and not allow_worse:
        for each in worse:
            remarks().print(
                f"{each.figure} of {each.configuration} fell from {each.before:.3f} to "
                f"{each.now:.3f} (p = {each.difference.p_value:.3f})"
            )
        raise typer.Exit(ExitCode.SOME_FAILED)
