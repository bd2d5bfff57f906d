"""The result of a run as one HTML file that loads nothing from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from justesse.evaluation.figures import FIGURES
from justesse.evaluation.report.plots import figures_plot, latency_plot
from justesse.evaluation.results import WHOLE, ConfigurationResult, RunResult
from justesse.evaluation.significance import Difference, Estimate

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
small { color: #666; display: block; }
.better { color: #067a2e; } .worse { color: #b3261e; }
svg { max-width: 100%; height: auto; }
"""
_MOST_LOSSES = 50


def write_html(path: Path, result: RunResult) -> None:
    """Writes the report; raises MissingExtraError without the extra `eval`."""
    parts = [
        f"<h1>{escape(result.set_name)}</h1>",
        f"<p>{_counts(result)}</p>",
        "<h2>Figures</h2>",
        *_figure_tables(result),
        figures_plot(result),
        "<h2>Time and cost of a search</h2>",
        _time_table(result.configurations),
        latency_plot(result),
        *_floor_tables(result),
        *_loss_tables(result),
    ]
    body = "\n".join(parts)
    path.write_text(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        f"<title>{escape(result.set_name)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n",
        encoding="utf-8",
    )


def _counts(result: RunResult) -> str:
    documents = f", {result.document_count} documents" if result.document_count else ""
    without = (
        f", and {result.unanswerable_count} that no document answers"
        if result.unanswerable_count
        else ""
    )
    return (
        f"{result.question_count} answerable questions{without}{documents}. Intervals are 95 %; "
        "differences are against the first line, coloured where p &lt; 0.05."
    )


def _figure_tables(result: RunResult) -> Iterable[str]:
    groups = list(result.configurations[0].estimates[FIGURES[0]])
    for group in groups:
        if group != WHOLE:
            yield f"<h3>{escape(group)}</h3>"
        rows = [
            [escape(each.name), *(_figure(each, figure, group) for figure in FIGURES)]
            for each in result.configurations
        ]
        yield _table(["", *FIGURES], rows)


def _figure(configuration: ConfigurationResult, figure: str, group: str) -> str:
    mean: Estimate = configuration.estimates[figure][group]
    gap = configuration.differences.get(figure, {}).get(group)
    shown = f"{mean.mean:.3f}<small>{mean.low:.3f} to {mean.high:.3f}</small>"
    return shown + (_difference(gap) if gap is not None else "")


def _difference(gap: Difference) -> str:
    colour = ("better" if gap.mean > 0 else "worse") if gap.significant else ""
    return f'<small class="{colour}">{gap.mean:+.3f}, p = {gap.p_value:.3f}</small>'


def _time_table(configurations: Sequence[ConfigurationResult]) -> str:
    stages = list(dict.fromkeys(stage for each in configurations for stage in each.latencies))
    rows = []
    for each in configurations:
        times = (each.latencies.get(stage) for stage in stages)
        shown = (f"{t.p50_ms:.1f} / {t.p95_ms:.1f}" if t is not None else "" for t in times)
        degraded = ", ".join(f"{escape(stage)} {count}" for stage, count in each.degraded.items())
        tokens = f"{each.input_tokens:.0f} + {each.output_tokens:.0f}"
        cost = f"{each.cost:.6f} {escape(each.currency)}" if each.currency else "0"
        rows.append([escape(each.name), *shown, tokens, cost, degraded or "none"])
    head = [f"{escape(stage)}, ms (p50 / p95)" for stage in stages]
    return _table(["", *head, "tokens", "cost", "degraded"], rows)


def _floor_tables(result: RunResult) -> Iterable[str]:
    last = result.configurations[-1]
    if not last.floors:
        return
    yield "<h2>Floors of similarity</h2>"
    rows = [
        [
            escape(floor.space_id),
            f"{floor.min_similarity:.4f}",
            f"{floor.kept:.0%}",
            f"{floor.refused:.0%}",
        ]
        for floor in last.floors
    ]
    yield _table(["space", "floor", "answerable kept", "unanswerable refused"], rows)


def _loss_tables(result: RunResult) -> Iterable[str]:
    for each in result.configurations[1:]:
        yield f"<h2>Answered worse with {escape(each.name)}</h2>"
        rows = [
            [
                escape(loss.question),
                str(loss.rank_before),
                "not found" if loss.rank_now is None else str(loss.rank_now),
                escape(loss.stage),
            ]
            for loss in each.losses[:_MOST_LOSSES]
        ]
        if rows:
            yield _table(["question", "rank before", "rank now", "lost by"], rows)
        else:
            yield "<p>None.</p>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    lines = "\n".join(row("td", cells) for cells in rows)
    return f"<table>\n<thead>{row('th', head)}</thead>\n<tbody>\n{lines}\n</tbody></table>"
