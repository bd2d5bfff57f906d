"""The figures of a run as CSV: one row for each configuration, group and figure."""

import csv
from pathlib import Path

from justesse.evaluation.results import RunResult

COLUMNS = (
    "configuration",
    "group",
    "figure",
    "mean",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
)


def write_csv(path: Path, result: RunResult) -> None:
    """Writes the file; cells about differences are empty for the baseline."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for configuration in result.configurations:
            for figure, groups in configuration.estimates.items():
                for group, mean in groups.items():
                    gap = configuration.differences.get(figure, {}).get(group)
                    writer.writerow(
                        [
                            configuration.name,
                            group,
                            figure,
                            *map(_number, (mean.mean, mean.low, mean.high)),
                            *(
                                map(_number, (gap.mean, gap.low, gap.high, gap.p_value))
                                if gap is not None
                                else [""] * 4
                            ),
                        ]
                    )


def _number(value: float) -> str:
    return f"{value:.4f}"
