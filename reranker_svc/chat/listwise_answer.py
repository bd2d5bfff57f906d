"""Reads the order that a chat model gives, as models write it: a list of numbers, more or less.

Models write `2,0,1`, `[2] > [0] > [1]`, JSON, numbered lines, `Passage 2, relevance: 9`, with prose
around. What counts is the longest list of numbers, or numbers that are called passages. Numbers
that name no passage, and all but the first of equal ones, are left out.
"""

import re
from collections.abc import Sequence

# Scores and shares, which are no passage's number.
_DECIMAL = re.compile(r"\d+\.\d+|\d+\s*%|\b\d+\s*/\s*\d+\b")
# Not a part of a word; a sign in front makes it no number of a passage.
_NUMBER = re.compile(r"(?<![\w.])(?:(?<!\d)-)?\d+(?!\w)")
_BETWEEN = re.compile(r"[\s,;>|\[\]()\"'<=→-]*")
_NAMED = re.compile(
    r"\b(?:doc(?:ument)?|passage|source|extrait|candidate?|index|id)\b\W{0,4}?(-?\d+)(?!\w)",
    re.IGNORECASE,
)
_NUMBERED_LINE = re.compile(r"^\s*(\d+)[.)]\s+(.*\d.*)$")
_ALONE = re.compile(r"\W*-?\d+\W*")


def order_from(text: str, count: int) -> tuple[int, ...]:
    """Returns the passages that the answer names, from 0, best first; empty if it names none.

    The passages are numbered from 0 to `count` - 1. An answer counts from 1 if that is proved: read
    from 0 one of its numbers is too large, read from 1 none is.
    """
    plain = _DECIMAL.sub(" ", _without_line_numbers(text))
    lists = [*_lists(plain), [int(number) for number in _NAMED.findall(plain)]]
    read = [_valid(numbers, count) for numbers in lists]
    return max(read, key=len, default=())


def _valid(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    first = 1 if count in numbers and all(1 <= number <= count for number in numbers) else 0
    named = (number - first for number in numbers)
    return tuple(dict.fromkeys(number for number in named if 0 <= number < count))


def _lists(text: str) -> list[list[int]]:
    """Returns the runs of two or more numbers with nothing but separators between them.

    A number alone is one only if the answer holds nothing else.
    """
    runs: list[list[int]] = []
    end = None
    for match in _NUMBER.finditer(text):
        if end is not None and _BETWEEN.fullmatch(text, end, match.start()):
            runs[-1].append(int(match.group()))
        else:
            runs.append([int(match.group())])
        end = match.end()
    alone = _ALONE.fullmatch(text) is not None
    return [run for run in runs if len(run) > 1 or alone]


def _without_line_numbers(text: str) -> str:
    """Returns the text without the numbers of its lines, if it is a list numbered from 1."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_NUMBERED_LINE.match(line) for line in lines]
    numbered = [match for match in found if match is not None]
    if len(numbered) < 2 or [int(m[1]) for m in numbered] != [*range(1, len(numbered) + 1)]:
        return text
    return "\n".join(match[2] for match in numbered)
