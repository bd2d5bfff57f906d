"""The secret by which the retriever of a mesh knows its gateway and ingestion role."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

_NAME = "claim.secret"


def claim_secret_file(data_folder: Path) -> Path:
    """Returns the file below the data folder that holds it."""
    return data_folder / _NAME


def make_claim_secret(data_folder: Path) -> None:
    """Writes a fresh secret that only its owner can read, where there is none yet."""
    file = claim_secret_file(data_folder)
    if file.exists():
        return
    draft = file.with_name(f"{_NAME}.{os.getpid()}.tmp")
    with suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(f"{secrets.token_hex(32)}\n")
    # In one step: a process killed meanwhile leaves none, not half a secret.
    draft.replace(file)
