"""Glossaries in CSV files: a term in the first column, its synonyms in those that follow."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import GlossaryEntry

HEADER = ("term", "synonym")
_TERM_HEADINGS = ("term", "terme")


def read_glossary(path: Path) -> list[GlossaryEntry]:
    """Reads entries; columns are parted by commas or semicolons, as the first line shows.

    CommandError for a file that is not UTF-8, has no heading, or holds a row that is no entry.
    """
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path} is not UTF-8; save it as 'CSV UTF-8'", ExitCode.USAGE
        ) from error
    first_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=first_line.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return list(_entries(rows, path))
    except csv.Error as error:
        raise CommandError(f"{path}, line {rows.line_num}: {error}", ExitCode.USAGE) from error


def written_glossary(entries: Iterable[GlossaryEntry]) -> str:
    """Returns the text of a file that `read_glossary` reads back."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([entry.term, *entry.synonyms] for entry in entries)
    return text.getvalue()


def _entries(rows: Iterator[list[str]], path: Path) -> Iterator[GlossaryEntry]:
    heading = next(rows, [""])
    # A first line that is an entry must not be lost.
    if not heading or heading[0].strip().casefold() not in _TERM_HEADINGS:
        raise CommandError(
            f"{path} does not begin with the heading '{','.join(HEADER)}'; put it above the "
            "entries",
            ExitCode.USAGE,
        )
    for number, row in enumerate(rows, start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        term, *synonyms = cells
        synonyms = [synonym for synonym in synonyms if synonym]
        if not term or not synonyms:
            raise CommandError(
                f"{path}, row {number} holds no {'synonym' if term else 'term'}", ExitCode.USAGE
            )
        yield GlossaryEntry(term, synonyms)
