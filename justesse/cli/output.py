"""Writing to the terminal: results to standard output, everything else to standard error."""

import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

import orjson
from rich.console import Console
from rich.text import Text

# C0, DEL, C1, and the characters that turn the direction of writing around.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


class _PipeConsole(Console):
    """A console whose reader may leave early (`| head`): that is no failure."""

    def on_broken_pipe(self) -> NoReturn:
        abandon_output()
        raise SystemExit(0)


def results() -> Console:
    """Opens the console for what was asked for."""
    return _console(sys.stdout)


def remarks() -> Console:
    """Opens the console for progress, hints and errors."""
    return _console(sys.stderr)


def print_json(result: Any) -> None:
    """Writes a result (dataclasses, enums and datetimes included) as the only output."""
    # Names of enumerations may be keys.
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    text = orjson.dumps(result, option=options).decode()
    sys.stdout.write(f"{text}\n")


def show(result: Any, as_json: bool, draw: Callable[[Console], None]) -> None:
    """Writes a result as JSON or, with `draw`, for people."""
    if as_json:
        print_json(result)
    else:
        draw(results())


def harmless(text: str) -> str:
    """Returns a text with a space for every run of control characters, line breaks included.

    Texts of documents and services reach a terminal only this way: an escape sequence inside them
    must not reach it.
    """
    return _CONTROL.sub(" ", text)


def one_line(text: str) -> str:
    """Returns a harmless text with single spaces between its words."""
    return " ".join(harmless(text).split())


def plain(text: str, style: str = "") -> Text:
    """Wraps a text so that neither markup nor control characters in it have an effect."""
    return Text(harmless(text), style=style)


def abandon_output() -> None:
    """Lets what is still to be written to a closed pipe vanish."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _console(stream: TextIO) -> Console:
    return _PipeConsole(file=stream, highlight=False, emoji=False, markup=False)
