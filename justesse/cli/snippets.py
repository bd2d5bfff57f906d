"""The lines of a passage that answer a question, as many as fit."""

import re
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from justesse.cli.excerpts import best_excerpt
from justesse.cli.marked_text import MarkedText
from justesse.client import TextSpan

SNIPPET_LINES = 3
_SHARE_FILLED = 0.85
"""Of the room in the lines, what words that are not broken fill."""

_TABLE_RULE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$", re.M
)
"""The line below the head of a Markdown table."""
_LINE = re.compile(r".*")


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a text that says most about the questions; its beginning where none does."""

    text: str
    questions: tuple[str, ...] = ()
    language: str = ""
    lines: int = SNIPPET_LINES
    highlights: tuple[TextSpan, ...] = ()
    """Parts of the text that are shown in bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields at most `lines` lines; ellipses stand for what is left out."""
        width = options.max_width
        length = int(width * self.lines * _SHARE_FILLED)
        marked = MarkedText.of(self.text, self.highlights).without(_TABLE_RULE)
        excerpt = best_excerpt(marked.text, self.questions, self.language, length)
        beginning = len(marked.text) - len(excerpt.text)
        shown = Text("" if excerpt.begins else "… ")
        shown.append_text(marked.from_place(beginning).in_one_line().styled("bold"))
        wrapped = shown.wrap(console, width)
        for position, line in enumerate(wrapped[: self.lines]):
            if position == self.lines - 1 and len(wrapped) > self.lines:
                line.truncate(width - 1)
                line.rstrip()
                line.append("…")
            yield line


def body_start(text: str) -> int:
    """Returns where the first line begins that is no Markdown heading; 0 if none is."""
    for line in _LINE.finditer(text):
        if line.group().strip() and not line.group().startswith("#"):
            return line.start()
    return 0
