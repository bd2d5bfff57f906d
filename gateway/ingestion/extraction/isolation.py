"""Cuts a process off from the network, where the system allows it."""

from __future__ import annotations

import ctypes
import os

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def leave_network() -> bool:
    """Moves this process into a network of its own that leads nowhere; says whether it could.

    Root moves at once; others need a user namespace of their own, which some systems forbid. Must
    run before the process has a second thread.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        return False
    if libc.unshare(_CLONE_NEWNET) == 0:
        return True
    # Root without the right to move would lose its files in a user namespace.
    return os.geteuid() != 0 and libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0
