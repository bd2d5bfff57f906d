"""A file of questions whose answers are known, one JSON object a line.

Each has `question` (or `query`) and `documents` (or `external_ids`); lines without a document, such
as questions that cannot be answered, are left out.
"""

from pathlib import Path
from typing import Any

import orjson

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import LabelledQuestion


def labelled_questions(path: Path) -> list[LabelledQuestion]:
    """Reads the file; raises CommandError naming the line that cannot be read."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}", ExitCode.USAGE) from error
    read = [_question(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    questions = [question for question in read if question.external_ids]
    if not questions:
        raise CommandError(f"{path} holds no question with a document", ExitCode.USAGE)
    return questions


def _question(path: Path, number: int, line: bytes) -> LabelledQuestion:
    try:
        entry: Any = orjson.loads(line)
        query = entry.get("question", entry.get("query"))
        documents = entry.get("documents", entry.get("external_ids")) or []
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise _unreadable(path, number) from error
    if not isinstance(query, str) or not query.strip() or not _are_texts(documents):
        raise _unreadable(path, number)
    return LabelledQuestion(query, documents)


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _unreadable(path: Path, number: int) -> CommandError:
    return CommandError(
        f"{path}, line {number}: expected a JSON object with 'question' and 'documents'",
        ExitCode.USAGE,
    )
