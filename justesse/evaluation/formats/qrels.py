"""Labels in a file of their own: BEIR's TSV with a header, or TREC's four columns.

BEIR: `query-id corpus-id score`; TREC: `query-id iteration document-id grade`.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from justesse.evaluation.formats.lines import grade_of, rows, text_of
from justesse.evaluation.judged_set import BadSetError

Grades = Mapping[str, Mapping[str, int]]


def read_qrels(path: Path) -> Grades:
    """Returns the grades over 0 by question and document."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line, cells in _labels(path):
        question, document, grade = cells
        value = grade_of(path, line, grade)
        if value > 0:
            grades[question][document] = value
    return grades


def _labels(path: Path) -> list[tuple[int, tuple[str, str, str]]]:
    if "\t" in text_of(path).partition("\n")[0]:
        found = list(rows(path, "\t"))
        if found and not found[0][1][-1].lstrip("-").isdigit():
            found = found[1:]
    else:
        lines = text_of(path).splitlines()
        found = [(at, line.split()) for at, line in enumerate(lines, start=1) if line.strip()]
    labels = []
    for line, cells in found:
        if len(cells) == 3:
            labels.append((line, (cells[0], cells[1], cells[2])))
        elif len(cells) == 4:
            labels.append((line, (cells[0], cells[2], cells[3])))
        else:
            raise BadSetError(f"{path}, line {line}: {len(cells)} columns instead of 3 or 4")
    return labels
