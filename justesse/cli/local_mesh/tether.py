"""Ties a process to its parent: `python tether.py PARENT_PID PROGRAM ARGUMENT...`.

Run as a file, before the program replaces it. Linux then sends SIGTERM to the program when the
parent dies, however it dies; elsewhere the program simply runs.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Becomes `command`; the setting outlives the change of program (prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            # The parent died before the tether was tied.
            sys.exit(1)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
