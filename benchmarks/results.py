"""The kept results, one JSON file a benchmark."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def keep(
    name: str, machine: Mapping[str, str], figures: Mapping[str, float | None], took_s: float
) -> None:
    """Writes what a benchmark measured, on which machine, and how many seconds it took."""
    RESULTS.mkdir(exist_ok=True)
    result = {"machine": machine, "took_s": round(took_s), "figures": figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")


def figures_of(name: str) -> Mapping[str, float | None]:
    """Returns what a benchmark measured last; empty where nothing is kept."""
    result = _kept(name)
    figures: Mapping[str, float | None] = result.get("figures", {})
    return figures


def took_s(name: str) -> int | None:
    """Returns the seconds that a benchmark took, None where that is not known."""
    seconds: int | None = _kept(name).get("took_s")
    return seconds


def _kept(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return {}
    result: dict[str, Any] = json.loads(path.read_text())
    return result
