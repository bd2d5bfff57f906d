"""A small process for tests of supervision: `python small_process.py NAME FOLDER [WORD...]`.

It writes FOLDER/NAME.ready and waits; on SIGTERM it adds its name to FOLDER/stopped and exits.
Words change it: `fail` exits with 3 at once, `late` never gets ready, `deaf` ignores SIGTERM.
"""

import signal
import sys
from pathlib import Path
from typing import NoReturn


def main(name: str, folder: Path, words: set[str]) -> None:
    """Behaves as the words say."""
    if "fail" in words:
        sys.stderr.write(f"{name} has no settings\n")
        sys.exit(3)

    def stop(*_: object) -> NoReturn:
        with (folder / "stopped").open("a") as stopped:
            stopped.write(f"{name}\n")
        sys.exit(0)

    signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in words else stop)
    if "late" not in words:
        (folder / f"{name}.ready").write_text("")
    while True:
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), set(sys.argv[3:]))
