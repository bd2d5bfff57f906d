"""The command `justesse`."""

import sys


def main() -> None:
    """Runs the command line and exits."""
    from justesse.cli.application import app

    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show must not end a command.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app()
