"""Figures of runs in tables."""

from collections.abc import Sequence

from rich.console import Console

from justesse.cli.output import plain
from justesse.cli.tables import fitting, new_table, number
from justesse.cli.wording import counted
from justesse.evaluation.comparison import Comparison
from justesse.evaluation.figures import FIGURES
from justesse.evaluation.results import IN_ALL, WHOLE, RunResult
from justesse.evaluation.significance import Difference

_SHOWN = ("hit@1", "hit@3", "nDCG@10")
"""What fits on a narrow terminal; the report has every figure."""

SIGNIFICANT = "* p < 0.05 against the first line (paired randomisation)"


def draw_result(console: Console, result: RunResult) -> None:
    """Draws a table a group, the configurations below each other."""
    groups = list(result.configurations[0].estimates[FIGURES[0]])
    console.print(counted(result.question_count, "answerable question"), style="dim")
    for group in groups:
        table = new_table()
        table.add_column(plain(group), overflow="fold")
        for figure in _SHOWN:
            table.add_column(figure, justify="right", no_wrap=True)
        if group == WHOLE:
            table.add_column("p50 ms", justify="right", no_wrap=True)
            table.add_column("p95 ms", justify="right", no_wrap=True)
        for each in result.configurations:
            cells = [
                number(each.estimates[figure][group].mean, 3)
                + _mark(each.differences.get(figure, {}).get(group))
                for figure in _SHOWN
            ]
            if group == WHOLE:
                latency = each.latencies[IN_ALL]
                cells += [number(latency.p50_ms, 1), number(latency.p95_ms, 1)]
            table.add_row(plain(each.name), *cells)
        console.print(fitting(console, table))
        console.print()
    if len(result.configurations) > 1:
        console.print(SIGNIFICANT, style="dim")


def draw_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Draws the means of both runs with their difference."""
    table = new_table()
    table.add_column("configuration")
    table.add_column("figure")
    for name in ("questions", "before", "now", "difference", "95 % interval", "p"):
        table.add_column(name, justify="right")
    for each in comparisons:
        gap = each.difference
        table.add_row(
            plain(each.configuration),
            each.figure,
            str(each.question_count),
            number(each.before, 3),
            number(each.now, 3),
            f"{gap.mean:+.3f}",
            f"{gap.low:+.3f} to {gap.high:+.3f}",
            number(gap.p_value, 3),
        )
    console.print(fitting(console, table))


def _mark(gap: Difference | None) -> str:
    return "*" if gap is not None and gap.significant else " "
