"""Runs `justesse eval` on the sets of docs/quality.md: `python -m tests.quality.switches`.

`--data FOLDER` holds the public sets in the BEIR layout, one a folder; docs/quality.md names their
origins. Answers and reports go to `--out`, where a run that was broken off goes on; what the page
shows is kept in docs/quality/switches.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.quality.switch_table import (
    DEMO,
    RESULT,
    compact,
    demo_rows,
    floor_rows,
    public_rows,
)

CONFIGURATIONS = ("dense", "hybrid", "hybrid+reranking")
PUBLIC_SETS: Mapping[str, Sequence[str]] = {
    "piaf": ("--sample", "600"),
    "cnil-faq": (),
    "covidfaq-fr": ("--sample", "300"),
    "covidfaq-en": ("--sample", "300", "--language", "en"),
    "cranfield": ("--sample", "100", "--documents", "1000", "--language", "en"),
    "cdtn-conventions": ("--sample", "150", "--documents", "800", "--filter-by", "idcc"),
    "epqa-dev": (
        *("--sample", "100", "--documents", "3000"),
        *("--language", "en", "--filter-by", "asin"),
    ),
}
"""Options of `justesse eval run`, by set."""
_ROOT = Path(__file__).parents[2]


def main() -> None:
    """Measures what is not measured yet, prints the rows of the page and keeps the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.switches", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--out", type=Path, default=Path("evaluation"))
    arguments = parser.parse_args()
    configurations = [word for name in CONFIGURATIONS for word in ("-c", name)]
    for name, options in PUBLIC_SETS.items():
        _evaluate(arguments.data / name, arguments.out / name, *configurations, *options)
    demo = _ROOT / "demo"
    _evaluate(
        demo / "labelled_questions.jsonl", arguments.out / DEMO, "--files", str(demo / "documents")
    )
    results = [
        compact(name, json.loads((arguments.out / name / "result.json").read_text("utf-8")))
        for name in (*PUBLIC_SETS, DEMO)
    ]
    RESULT.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for rows in (public_rows(results), demo_rows(results), floor_rows(results)):
        print("\n".join(rows), end="\n\n")


def _evaluate(path: Path, out: Path, *options: str) -> None:
    command = (sys.executable, "-m", "justesse", "eval", "run", str(path), "-o", str(out))
    subprocess.run([*command, *options], check=True)


if __name__ == "__main__":
    main()
