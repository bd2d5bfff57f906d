"""`justesse eval score`: figures of rankings in TREC's run format, whoever made them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.evaluation.extras import require_installed
from justesse.cli.options import JsonOption
from justesse.cli.output import plain, show
from justesse.cli.tables import fitting, new_table, number
from justesse.evaluation.figures import FIGURES, figures_of
from justesse.evaluation.formats.sets import read_set
from justesse.evaluation.formats.trec_run import read_run
from justesse.evaluation.significance import Estimate, estimate


def score(
    path: Annotated[
        Path,
        typer.Argument(metavar="SET", help="Folder in the BEIR layout, or a file of questions."),
    ],
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Files in TREC's run format.")],
    qrels: Annotated[
        Path | None,
        typer.Option("--qrels", metavar="FILE", help="Labels of their own: BEIR's TSV, or TREC."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the figures of rankings that were made elsewhere."""
    require_installed()
    questions = [each for each in read_set(path, qrels).questions if each.answerable]
    found: dict[str, dict[str, Estimate]] = {}
    for run in runs:
        values = figures_of(questions, read_run(run))
        found[str(run)] = {name: estimate(list(values[name].values())) for name in FIGURES}

    def draw(console: Console) -> None:
        table = new_table()
        table.add_column("run")
        for figure in FIGURES:
            table.add_column(figure, justify="right")
        for name, figures in found.items():
            table.add_row(plain(name), *(number(figures[figure].mean, 3) for figure in FIGURES))
        console.print(fitting(console, table))

    show(found, as_json, draw)
