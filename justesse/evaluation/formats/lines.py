"""Lines of JSON and of separated columns, with words for what is wrong in them."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from justesse.evaluation.judged_set import BadSetError


def text_of(path: Path) -> str:
    """Returns the text of a file in UTF-8; raises BadSetError if it has none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadSetError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadSetError(f"{path} is not UTF-8 (byte {error.start})") from error


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields each line's number and object; blank lines are passed over."""
    # JSON may hold U+2028, which ends a line for `splitlines` only.
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadSetError(f"{path}, line {number}: no JSON ({error.msg})") from error
        if not isinstance(value, dict):
            raise BadSetError(f"{path}, line {number}: not an object")
        yield number, value


def rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yields each row's line number and its cells."""
    reader = csv.reader(text_of(path).splitlines(keepends=True), delimiter=delimiter)
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, [cell.strip() for cell in row]


def text_field(path: Path, line: int, value: dict[str, Any], name: str) -> str:
    """Returns a field that must be there, be text and not be blank."""
    text = value.get(name)
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or not text.strip():
        raise BadSetError(f"{path}, line {line}: {name} is missing, blank or no text")
    return text


def grade_of(path: Path, line: int, text: str) -> int:
    """Returns a grade, a whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise BadSetError(f"{path}, line {line}: grade {text!r} is no whole number") from error


def plain_metadata(value: object) -> dict[str, str | float | bool]:
    """Returns what of a metadata object can be filtered by: texts, numbers and booleans."""
    if not isinstance(value, dict):
        return {}
    return {
        str(name): fact for name, fact in value.items() if isinstance(fact, (str, int, float, bool))
    }
