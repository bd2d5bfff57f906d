"""Files that hold an API key, for their owner alone."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def new_key() -> str:
    """Makes a key of 256 random bits in the form that the gateway reads."""
    return f"jst_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


@contextmanager
def new_key_file(file: Path) -> Iterator[Callable[[str], None]]:
    """Makes a file that only its owner can read, and yields what writes a key into it.

    FileExistsError where there is one. It is made first: a key that cannot be written would be
    lost. Where no key comes, it is taken away again.
    """
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as opened:
            yield lambda key: print(key, file=opened)
    except BaseException:
        file.unlink()
        raise
