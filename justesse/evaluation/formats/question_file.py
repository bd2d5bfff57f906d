"""Questions in one file, CSV or lines of JSON, each with the documents that answer it.

CSV needs a header with `question` and `document` (several documents in one cell are separated by
`|`, none means that no document answers), and may have `id`, `domain` and columns `metadata.NAME`,
which are texts. A line of JSON has `question` and `documents` (or `document`), and may have `id`,
`domain` and an object `metadata`.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from justesse.evaluation.formats.lines import json_lines, plain_metadata, text_field, text_of
from justesse.evaluation.judged_set import BadSetError, JudgedSet, Question, checked_set

_METADATA = "metadata."


def read_question_file(path: Path) -> JudgedSet:
    """Reads a file whose name ends in .csv, .tsv, .jsonl or .ndjson."""
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        found = _csv_questions(path, "\t" if suffix == ".tsv" else _delimiter(path))
    elif suffix in (".jsonl", ".ndjson"):
        found = json_lines(path)
    else:
        raise BadSetError(f"{path} is neither .csv, .tsv, .jsonl nor .ndjson")
    return checked_set(path.stem, [_question(path, line, value) for line, value in found])


def _csv_questions(path: Path, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(text_of(path).splitlines(keepends=True), delimiter=delimiter)
    columns = set(reader.fieldnames or ())
    if "question" not in columns or not columns & {"document", "documents"}:
        raise BadSetError(f"{path} needs the columns question and document, not {sorted(columns)}")
    for row in reader:
        cell = row.get("document") or row.get("documents") or ""
        names = [name.strip() for name in cell.split("|") if name.strip()]
        metadata = {
            name.removeprefix(_METADATA): value
            for name, value in row.items()
            if name and name.startswith(_METADATA) and value
        }
        yield reader.line_num, {**row, "documents": names, "metadata": metadata}


def _delimiter(path: Path) -> str:
    header = text_of(path).partition("\n")[0]
    return ";" if header.count(";") > header.count(",") else ","


def _question(path: Path, line: int, value: Mapping[str, Any]) -> Question:
    given = dict(value)
    documents = given.get("documents", given.get("document"))
    names = [documents] if isinstance(documents, str) else documents
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise BadSetError(
            f"{path}, line {line}: documents must be a list of document ids; an empty list means "
            "that no document answers"
        )
    return Question(
        str(given.get("id") or f"{line}"),
        text_field(path, line, given, "question"),
        dict.fromkeys(names, 1),
        str(given.get("domain") or ""),
        plain_metadata(given.get("metadata")),
    )
