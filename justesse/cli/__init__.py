"""The command `justesse`."""

import os
import sys


def main() -> None:
    """Runs the command line and exits."""
    # Read when gRPC loads; otherwise it writes every connection that a service closes to stderr.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from justesse.cli.application import app

    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show must not end a command.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app()
