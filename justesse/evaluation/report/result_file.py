"""The result of a run as JSON, to be read by people, by programs and by `justesse eval compare`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from justesse.evaluation.judged_set import BadSetError
from justesse.evaluation.results import RunResult

FORMAT = 1
"""Grows whenever a field changes its meaning."""


def write_result(path: Path, result: RunResult, settings: dict[str, Any]) -> None:
    """Writes the result with the settings that it was made with."""
    value = {"format": FORMAT, "settings": settings, **asdict(result)}
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_values(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Returns the values by configuration, figure and question id; BadSetError if it has none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != FORMAT:
            raise BadSetError(f"{path} has format {value['format']}; this program reads {FORMAT}")
        return {each["name"]: each["values"] for each in value["configurations"]}
    except OSError as error:
        raise BadSetError(f"{path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise BadSetError(f"{path} is no result of an evaluation") from error
