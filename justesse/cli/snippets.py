"""The lines of a passage that answer a question, as many as fit."""

import re
from dataclasses import dataclass
from itertools import dropwhile

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from justesse.cli.excerpts import best_excerpt
from justesse.cli.output import one_line

SNIPPET_LINES = 3
_SHARE_FILLED = 0.85
"""Of the room in the lines, what words that are not broken fill."""

_TABLE_RULE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$", re.M
)
"""The line below the head of a Markdown table."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a text that says most about the questions; its beginning where none does."""

    text: str
    questions: tuple[str, ...] = ()
    language: str = ""
    lines: int = SNIPPET_LINES

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields at most `lines` lines; ellipses stand for what is left out."""
        width = options.max_width
        length = int(width * self.lines * _SHARE_FILLED)
        excerpt = best_excerpt(
            _TABLE_RULE.sub("", self.text), self.questions, self.language, length
        )
        shown = Text(("" if excerpt.begins else "… ") + one_line(excerpt.text))
        wrapped = shown.wrap(console, width)
        for position, line in enumerate(wrapped[: self.lines]):
            if position == self.lines - 1 and len(wrapped) > self.lines:
                line.truncate(width - 1)
                line.rstrip()
                line.append("…")
            yield line


def without_headings(text: str) -> str:
    """Returns a passage from its first line that is no Markdown heading; all of it if none is."""
    lines = text.splitlines()
    body = dropwhile(lambda line: not line.strip() or line.startswith("#"), lines)
    return "\n".join(body) or text
