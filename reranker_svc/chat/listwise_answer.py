"""Reads the order that a chat model gives, as models write it: a list of numbers, more or less.

Models write `2,0,1`, `[2] > [0] > [1]`, JSON, tables, numbered lines, `Passage 2, relevance: 9`,
with prose around. Read are, the first that names a passage: the passages of lines numbered from 1;
the longest list that has its lines to itself, of equally long ones the last, since models that
think aloud correct themselves; the numbers that prose calls passages or lists, in its order.
Numbers that name no passage, and all but the first of equal ones, are left out.
"""

import re
from collections.abc import Iterator, Sequence

# An order needs fewer; what comes behind is a model that does not end.
_READ_CHARACTERS = 20_000
# Dates, shares, and decimals: scores, which are no passage's number.
_NO_PASSAGE = re.compile(
    r"(?<!\d)(?:\d{4}-\d\d-\d\d|\d{1,9}/\d{1,9}(?:/\d{1,9})?|\d{1,9} ?/ ?\d{1,9}|\d{1,9}\.\d{1,20}"
    r"|\d{1,9}\s?%)(?!\d)"
)
# `2: 95`, `"2": 95` and `2 (95)` are a passage and its score.
_SCORE = re.compile(r"(?<=\d)([\"'\])*]{0,3}\s?:\s?\"?\d{1,9}|\s?\(\d{1,9}\))(?!\d)")
# Not a part of a word, nor of a code; a sign in front makes it no number of a passage.
_NUMBER = re.compile(r"(?<![\w.])(?:(?<!\d)-)?\d{1,9}(?!\w)")
_BETWEEN = re.compile(r"(?:[\s,;>|\[\]()\"'<=→-]|\b(?:et|and|puis|then|ensuite)\b){0,20}")
# Two numbers joined so are a range, a code or a thousand, where prose is around.
_RANGE = re.compile(r"[\s-]*")
_NAMED = re.compile(
    r"\b(?:doc(?:ument)?|passage|source|extrait|candidate?|index|id)s?\b\W{0,4}?(-?\d{1,9})(?!\w)",
    re.IGNORECASE,
)
_LINE_NUMBER = re.compile(r"[\s*|#]{0,8}(\d{1,3})\s?\*{0,2}\s?[.):|]\*{0,2}(?!\d)")
# `[2] Surestaries` and `2 - Surestaries` at the beginning of a line.
_HEADING = re.compile(r"[\s*|#-]{0,8}(?:\[(\d{1,9})\]|(\d{1,9})\s[-–—|])")
_FIRST = re.compile(r"\W{0,8}?(-?\d{1,9})(?!\w)")
_LETTER = re.compile(r"[^\W\d_]")


def order_from(text: str, count: int) -> tuple[int, ...]:
    """Returns the passages that the answer names, from 0, best first; empty if it names none.

    The passages are numbered from 0 to `count` - 1. An answer counts from 1 if that is proved: read
    from 0 one of its numbers is too large, read from 1 none is. Only the first 20,000 characters
    are read.
    """
    plain = _NO_PASSAGE.sub(" ", text[:_READ_CHARACTERS])
    lines = [line for line in plain.splitlines() if line.strip()]
    numbered = _numbered(lines)
    unscored = [_SCORE.sub(" ", line) for line in lines]
    alone = [_valid(numbers, count) for numbers in _lists_alone(unscored)]
    readings = (
        _valid(numbered, count),
        max(reversed(alone), key=len, default=()),
        () if numbered else _valid(list(_mentioned(unscored, count)), count),
    )
    return next(filter(None, readings), ())


def _valid(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    first = 1 if count in numbers and all(1 <= number <= count for number in numbers) else 0
    named = (number - first for number in numbers)
    return tuple(dict.fromkeys(number for number in named if 0 <= number < count))


def _numbered(lines: Sequence[str]) -> list[int]:
    """Returns the passage of each line, if two lines or more are numbered from 1 and name one."""
    found = [match for line in lines if (match := _LINE_NUMBER.match(line)) is not None]
    if len(found) < 2 or [int(match[1]) for match in found] != [*range(1, len(found) + 1)]:
        return []
    contents = [match.string[match.end() :] for match in found]
    named = [_NAMED.search(content) or _FIRST.match(content) for content in contents]
    return [int(match[1]) for match in named if match is not None]


def _lists_alone(lines: Sequence[str]) -> Iterator[list[int]]:
    """Yields lists on lines without a word, such as may follow a label and its colon.

    A number alone is a list only if the answer holds nothing else.
    """
    block: list[str] = []
    only = all(_LETTER.search(line) is None for line in lines)
    for line in [*lines, "end"]:
        if _LETTER.search(line) is None:
            block.append(line)
            continue
        numbers = _numbers("\n".join(block))
        if len(numbers) > 1 or (numbers and only):
            yield numbers
        block = [_after_label(line)]


def _after_label(line: str) -> str:
    """Returns what follows the label of a line; empty if words do, or if numbers are in it."""
    for label, _, rest in (line.partition(":"), line.rpartition(":")):
        is_label = ":" not in label or re.search(r"\d", label) is None
        if rest and is_label and _LETTER.search(rest) is None:
            return rest
    return ""


def _mentioned(lines: Sequence[str], count: int) -> Iterator[int]:
    """Yields the numbers called passages, and those of lists, as they come."""
    for line in lines:
        named = {match.start(1) for match in _NAMED.finditer(line)}
        heading = _HEADING.match(line)
        if heading is not None:
            named.add(max(heading.start(1), heading.start(2)))
        for run in _runs(line):
            ranging = len(run) == 2 and _RANGE.fullmatch(line, run[0].end(), run[1].start())
            if ranging and heading is None:
                continue
            # A thousand with its separator holds one number of a passage at most.
            listed = not ranging and sum(0 <= int(each.group()) <= count for each in run) > 1
            for match in run:
                if listed or match.start() in named:
                    yield int(match.group())


def _runs(line: str) -> list[list[re.Match[str]]]:
    """Returns the numbers of a line, those with nothing but separators between them together."""
    runs: list[list[re.Match[str]]] = []
    end = None
    for match in _NUMBER.finditer(line):
        if end is not None and _BETWEEN.fullmatch(line, end, match.start()):
            runs[-1].append(match)
        else:
            runs.append([match])
        end = match.end()
    return runs


def _numbers(text: str) -> list[int]:
    return [int(match.group()) for match in _NUMBER.finditer(text)]
