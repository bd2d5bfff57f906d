"""The table of docs/scale.md: what each measure is at each size, and how often the smallest."""

from pathlib import Path

from benchmarks.results import figures_of
from benchmarks.retriever_growth import MEASURES, SIZES, figure, ratio

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
FIRST, LAST = "<!-- growth -->\n", "<!-- end of growth -->\n"


def page_with_growth(page: str) -> str:
    """Returns docs/scale.md with the table as the kept result has it."""
    before, rest = page.split(FIRST)
    _, after = rest.split(LAST)
    head = f"| | {' | '.join(f'{size:,} passages' for size in SIZES)} |"
    lines = [head, "|---|" + "---|" * len(SIZES), *map(_line, MEASURES)]
    return f"{before}{FIRST}" + "\n".join(lines) + f"\n{LAST}{after}"


def write_growth() -> None:
    """Writes the table anew."""
    PAGE.write_text(page_with_growth(PAGE.read_text()))


def _line(name: str) -> str:
    figures = figures_of("retriever_growth")
    cells = []
    for size in SIZES:
        measured = figures.get(figure(size, name))
        times = figures.get(ratio(size, SIZES[0], name))
        shown = "not measured" if measured is None else _number(measured)
        cells.append(shown if times is None else f"{shown} ({times:.2g} x)")
    return f"| {name} | {' | '.join(cells)} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
