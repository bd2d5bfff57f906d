"""Files on disk while they arrive."""

import errno
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chassis.errors import ResourceExhausted
from gateway.ingestion.received_files import ReceivingFolder, full_disk_named


async def stream(*pieces: bytes, error: Exception | None = None) -> AsyncIterator[bytes]:
    """Pieces of a file, and the error that ends them."""
    for piece in pieces:
        yield piece
    if error is not None:
        raise error


def entries(folder: Path) -> list[str]:
    """All files below a folder, by name."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


async def test_a_file_is_complete_while_it_is_held_and_gone_after(tmp_path: Path) -> None:
    """Size and fingerprint are those of all pieces."""
    async with ReceivingFolder(tmp_path).receive(stream(b"ab", b"", b"cd")) as received:
        assert received.path.read_bytes() == b"abcd"
        assert received.size == 4
        assert received.sha256 == hashlib.sha256(b"abcd").hexdigest()

    assert entries(tmp_path) == []


async def test_a_broken_upload_leaves_nothing(tmp_path: Path) -> None:
    """The error passes; the file does not stay."""
    folder = ReceivingFolder(tmp_path)

    with pytest.raises(RuntimeError, match="cut off"):
        async with folder.receive(stream(b"ab", error=RuntimeError("cut off"))):
            pytest.fail("the file was never complete")

    assert entries(tmp_path) == []


async def test_sweeping_removes_only_what_nobody_holds(tmp_path: Path) -> None:
    """A second process that starts on the same folder takes nothing from the first."""
    folder = ReceivingFolder(tmp_path)
    (tmp_path / "incoming-left").write_bytes(b"from a killed process")
    (tmp_path / "other").write_bytes(b"not ours")

    async with folder.receive(stream(b"ab")) as received:
        assert ReceivingFolder(tmp_path).sweep() == 1
        assert received.path.read_bytes() == b"ab"

    assert entries(tmp_path) == ["other"]


def test_a_full_disk_is_named() -> None:
    """It is the caller's to know; other trouble with the disk is not hidden behind it."""
    with pytest.raises(ResourceExhausted, match="no disk space") as raised, full_disk_named():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.reason == "NO_DISK_SPACE"

    with pytest.raises(PermissionError), full_disk_named():
        raise PermissionError(errno.EACCES, "denied")
