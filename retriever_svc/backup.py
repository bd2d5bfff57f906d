"""Backs up a retriever: `python -m retriever_svc.backup DATA_FOLDER TARGET`.

Works beside a running retriever. To restore, start one with TARGET as its data folder.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from chassis.errors import ServiceError
from retriever_svc.embedded.store.backup import back_up


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 once the backup is on the disk, 1 with a message if it is not."""
    parser = argparse.ArgumentParser(
        prog="python -m retriever_svc.backup",
        description="Copies the store of a retriever, running or not, into a folder.",
    )
    parser.add_argument("data_folder", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("target", type=Path, metavar="TARGET")
    given = parser.parse_args(arguments)
    try:
        size = back_up(given.data_folder, given.target, _show if sys.stderr.isatty() else _hide)
    except (ServiceError, OSError) as error:
        sys.stderr.write(f"no backup: {error}\n")
        return 1
    sys.stdout.write(
        f"{size} bytes in {given.target}; "
        f"to restore, start a retriever with JUSTESSE_RETRIEVER_DATA_FOLDER={given.target}\n"
    )
    return 0


def _show(left: int, total: int) -> None:
    share = 100 if total == 0 else 100 * (total - left) // total
    sys.stderr.write(f"\r{share:3} % copied" + ("" if left else "\n"))


def _hide(left: int, total: int) -> None:
    """Says nothing: nobody watches."""


if __name__ == "__main__":
    sys.exit(main())
