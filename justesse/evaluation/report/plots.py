"""Plots of a run as SVG, by matplotlib (extra `eval`)."""

import io
from typing import Any

from justesse.evaluation.figures import extra
from justesse.evaluation.results import WHOLE, RunResult

_FIGURES = ("hit@1", "hit@3", "nDCG@10")
_INCHES = (8.0, 3.6)


def figures_plot(result: RunResult) -> str:
    """Bars of the main figures by configuration, with their 95 % intervals."""
    figure, axes = _axes()
    width = 0.8 / len(result.configurations)
    for at, configuration in enumerate(result.configurations):
        means = [configuration.estimates[name][WHOLE] for name in _FIGURES]
        axes.bar(
            [place + at * width for place in range(len(_FIGURES))],
            [each.mean for each in means],
            width * 0.92,
            yerr=[
                [each.mean - each.low for each in means],
                [each.high - each.mean for each in means],
            ],
            capsize=3,
            label=configuration.name,
        )
    middle = 0.4 - width / 2
    axes.set_xticks([place + middle for place in range(len(_FIGURES))], _FIGURES)
    axes.set_ylim(0.0, 1.0)
    return _svg(figure, axes)


def latency_plot(result: RunResult) -> str:
    """Bars of the median milliseconds by stage and configuration, up to the 95th percentile."""
    figure, axes = _axes()
    stages = list(
        dict.fromkeys(stage for each in result.configurations for stage in each.latencies)
    )
    width = 0.8 / len(result.configurations)
    for at, configuration in enumerate(result.configurations):
        found = [configuration.latencies.get(stage) for stage in stages]
        p50 = [each.p50_ms if each is not None else 0.0 for each in found]
        above = [each.p95_ms - each.p50_ms if each is not None else 0.0 for each in found]
        axes.bar(
            [place + at * width for place in range(len(stages))],
            p50,
            width * 0.92,
            yerr=[[0.0] * len(stages), above],
            capsize=3,
            label=configuration.name,
        )
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(stages))], stages)
    axes.set_ylabel("ms")
    return _svg(figure, axes)


def _axes() -> tuple[Any, Any]:
    # The canvas is made by hand, without the state that pyplot keeps for the whole process.
    figure = extra("matplotlib.figure").Figure(figsize=_INCHES, layout="constrained")
    return figure, figure.add_subplot()


def _svg(figure: Any, axes: Any) -> str:
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend(fontsize="small")
    with io.StringIO() as file:
        # Without a date, equal results make equal files.
        figure.savefig(file, format="svg", metadata={"Date": None})
        text = file.getvalue()
    return text[text.index("<svg") :]
