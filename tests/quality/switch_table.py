"""The rows of docs/quality.md that say what each switch brings, from the kept results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parents[2] / "docs" / "quality" / "switches.json"
DEMO = "demo"
_FIGURES = ("hit@1", "hit@3", "nDCG@10")


def compact(name: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns of a result of `justesse eval` what the page shows, rounded to four digits."""
    return {
        "set": name,
        "settings": {
            key: value for key, value in result["settings"].items() if key != "fingerprint"
        },
        "questions": result["question_count"],
        "unanswerable": result["unanswerable_count"],
        "documents": result["document_count"],
        "configurations": [
            {
                "name": each["name"],
                "estimates": {
                    figure: {group: _rounded(e) for group, e in each["estimates"][figure].items()}
                    for figure in _FIGURES
                },
                "gain": _rounded(each["differences"]["hit@1"]["all"])
                if each["differences"]
                else None,
                "floors": [_rounded(floor) for floor in each["floors"]],
            }
            for each in result["configurations"]
        ],
    }


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()
    }


def public_rows(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a row for each public set and configuration."""
    rows = []
    for result in results:
        if result["set"] == DEMO:
            continue
        title = f"{result['set']} ({result['questions']}, {result['documents']})"
        for each in result["configurations"]:
            cells = [f"{each['estimates'][figure]['all']['mean']:.3f}" for figure in _FIGURES]
            cells.append(_gain(each["gain"]))
            rows.append(f"| {title} | {each['name']} | {' | '.join(cells)} |")
            title = ""
    return rows


def demo_rows(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a row for each configuration on the demo base: hit@1 / hit@3 by domain."""
    result = next(each for each in results if each["set"] == DEMO)
    rows = []
    for each in result["configurations"]:
        first, third = (each["estimates"][figure] for figure in ("hit@1", "hit@3"))
        groups = ["all", *sorted(first.keys() - {"all"})]
        cells = [f"{first[group]['mean']:.2f} / {third[group]['mean']:.2f}" for group in groups]
        rows.append(f"| {each['name']} | {' | '.join(cells)} |")
    return rows


def floor_rows(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a row for each floor of similarity on the demo base."""
    result = next(each for each in results if each["set"] == DEMO)
    return [
        f"| {floor['min_similarity']:.3f} | {floor['kept']:.2f} | {floor['refused']:.2f} |"
        for floor in result["configurations"][-1]["floors"]
    ]


def kept_results() -> list[dict[str, Any]]:
    """Returns what the last whole run measured, set by set."""
    results: list[dict[str, Any]] = json.loads(RESULT.read_text("utf-8"))
    return results


def _gain(gain: Mapping[str, float] | None) -> str:
    if gain is None:
        return ""
    shown = f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"
    return f"**{shown}**" if gain["low"] > 0.0 or gain["high"] < 0.0 else shown
