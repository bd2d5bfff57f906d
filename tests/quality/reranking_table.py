"""The rows of docs/quality.md that say how rankings compare, from the kept result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parents[2] / "docs" / "quality" / "reranking.json"
BEST = "formula with windows"
README_METHODS = ("dense", "BM25", "RRF", BEST)


def rows(results: Mapping[str, Any]) -> list[str]:
    """Returns a row for each set and method, and one for the means over the sets."""
    written = []
    for name, result in results.items():
        for at, (method, figures) in enumerate(result["methods"].items()):
            title = f"{name} ({result['questions']})" if at == 0 else ""
            cells = [
                f"{figures['hit@1']['value']:.3f}",
                f"{figures['hit@3']['value']:.3f}",
                _difference(figures["hit@1 less dense"]),
                _difference(figures["hit@1 less RRF"]),
            ]
            written.append(f"| {title} | {method} | {' | '.join(cells)} |")
    methods = next(iter(results.values()))["methods"]
    means = {
        method: sum(each["methods"][method]["hit@1"]["value"] for each in results.values())
        / len(results)
        for method in methods
    }
    shown = ", ".join(f"{method} {mean:.3f}" for method, mean in means.items())
    gain = means[BEST] - means["dense"]
    written.append(f"Means of hit@1 over the sets: {shown}; {BEST} less dense {gain:+.3f}.")
    return written


def kept_rows() -> list[str]:
    """Returns the rows of the kept result."""
    return rows(kept_result())


def kept_result() -> Mapping[str, Any]:
    """Returns what the last whole run measured."""
    result: Mapping[str, Any] = json.loads(RESULT.read_text())
    return result


def _difference(values: Mapping[str, float]) -> str:
    if values["low"] == values["high"] == 0.0:
        return ""
    shown = f"{values['value']:+.3f} [{values['low']:+.3f}, {values['high']:+.3f}]"
    significant = values["low"] > 0.0 or values["high"] < 0.0
    return f"**{shown}**" if significant else shown


def readme_rows(results: Mapping[str, Any]) -> list[str]:
    """Returns a row for each set: hit@1 / hit@3 of every ranking that the README names."""
    written = []
    for name, result in results.items():
        cells = [
            f"{figures['hit@1']['value']:.3f} / {figures['hit@3']['value']:.3f}"
            for method, figures in result["methods"].items()
            if method in README_METHODS
        ]
        written.append(f"| {name} ({result['questions']}) | {' | '.join(cells)} |")
    return written
