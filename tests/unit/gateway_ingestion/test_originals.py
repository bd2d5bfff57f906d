"""Originals in a folder, and wherever fsspec reaches."""

import errno
import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pytest

from chassis.errors import NotFound, ResourceExhausted, Unavailable
from gateway.incoming_files import IncomingFile
from gateway.ingestion.originals import Originals
from gateway.ingestion.received_files import ReceivedFile

FILE = IncomingFile(
    "w",
    "Guide.MD",
    keywords=("retard", "quai"),
    metadata={"week": 12.0, "urgent": True, "seen": datetime(2024, 1, 2, tzinfo=UTC)},
    valid_from=datetime(2024, 1, 17, 8, 30, tzinfo=UTC),
)  # fmt: skip


def received(folder: Path, data: bytes = b"text") -> ReceivedFile:
    """A file that has arrived."""
    path = folder / "incoming"
    path.write_bytes(data)
    return ReceivedFile(path, hashlib.sha256(data).hexdigest(), len(data))


@pytest.fixture(params=["folder", "file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty place: a folder by its path, by a URL, or one in memory."""
    urls = {
        "folder": str(tmp_path / "kept"),
        "file": f"file://{tmp_path}/kept",
        "memory": f"memory://{tmp_path.name}",
    }
    yield urls[request.param]
    fsspec.filesystem("memory").store.clear()


def names(place: str) -> list[str]:
    """The endings of all files of a place."""
    files, root = fsspec.core.url_to_fs(place)
    return sorted("." + path.rpartition(".")[2] for path in files.find(root))


def test_what_was_kept_comes_back_with_its_description(place: str, tmp_path: Path) -> None:
    """Byte by byte, value by value, also by another process."""
    file = received(tmp_path)
    Originals(place).keep(file, FILE, "guide")
    into = tmp_path / "back"
    into.mkdir()

    original = Originals(place).fetch("w", "guide", file.sha256, into)

    assert original.file == FILE
    assert (original.received.sha256, original.received.size) == (file.sha256, 4)
    assert original.received.path.read_bytes() == b"text"
    assert original.received.path.parent == into
    assert names(place) == [".json", ".md"]


def test_keeping_again_changes_nothing_but_the_description(place: str, tmp_path: Path) -> None:
    """The last one counts."""
    originals = Originals(place)
    originals.keep(received(tmp_path), FILE, "guide")
    again = received(tmp_path)
    originals.keep(again, IncomingFile("w", "guide.md", category="x"), "guide")

    assert originals.fetch("w", "guide", again.sha256, tmp_path).file.category == "x"
    assert names(place) == [".json", ".md"]


def test_what_was_not_kept_is_told(place: str, tmp_path: Path) -> None:
    """Another document, workspace or content has files of its own."""
    originals = Originals(place)
    file = received(tmp_path)
    originals.keep(file, FILE, "guide")

    for workspace, external_id, digest in (
        ("w", "other", file.sha256),
        ("v", "guide", file.sha256),
        ("w", "guide", "0" * 64),
    ):
        with pytest.raises(NotFound, match="send it again"):
            originals.fetch(workspace, external_id, digest, tmp_path)


def test_only_the_present_file_of_a_document_stays(place: str, tmp_path: Path) -> None:
    """Files of other documents are not touched."""
    originals = Originals(place)
    old = received(tmp_path, b"old")
    originals.keep(old, FILE, "guide")
    originals.keep(received(tmp_path, b"old"), FILE, "other")
    new = received(tmp_path, b"new")
    originals.keep(new, FILE, "guide")
    originals.keep_only("w", "guide", new.sha256)
    originals.keep_only("w", "nowhere", new.sha256)

    assert originals.fetch("w", "guide", new.sha256, tmp_path).received.size == 3
    assert originals.fetch("w", "other", old.sha256, tmp_path).received.size == 3
    with pytest.raises(NotFound):
        originals.fetch("w", "guide", old.sha256, tmp_path)


def test_files_go_with_their_document_and_their_workspace(place: str, tmp_path: Path) -> None:
    """No byte is left; what was not there counts nothing."""
    originals = Originals(place)
    for workspace, external_id in (("w", "a"), ("w", "b"), ("w", "c"), ("w-2", "a")):
        file = received(tmp_path)
        originals.keep(file, FILE if workspace == "w" else IncomingFile("w-2", "g.md"), external_id)

    assert originals.remove_document("w", "a") == 1
    assert originals.remove_document("w", "a") == 0
    assert originals.remove_workspace("w") == 2
    assert originals.remove_workspace("w") == 0
    assert names(place) == [".json", ".md"]
    assert originals.fetch("w-2", "a", file.sha256, tmp_path).file.workspace == "w-2"


def test_a_file_of_another_file_system_is_copied_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It bears its name only when all of it is there."""
    real = os.replace

    def replace(source: str | Path, target: str | Path) -> None:
        if Path(source).name == "incoming":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(Path(source), target)

    monkeypatch.setattr("gateway.ingestion.originals.os.replace", replace)
    originals = Originals(tmp_path / "kept")
    file = received(tmp_path)
    originals.keep(file, FILE, "guide")

    assert (
        originals.fetch("w", "guide", file.sha256, tmp_path).received.path.read_bytes() == b"text"
    )
    assert names(str(tmp_path / "kept")) == [".json", ".md"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), ResourceExhausted),
        (PermissionError(errno.EACCES, "denied"), Unavailable),
        (RuntimeError("the bucket is gone"), Unavailable),
    ],
)
def test_trouble_with_the_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception]
) -> None:
    """Whatever the library behind a URL raises."""
    originals = Originals("memory://trouble")

    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(originals._files, "put_file", fail)
    with pytest.raises(kind):
        originals.keep(received(tmp_path), FILE, "guide")


@pytest.mark.parametrize("place", ["nowhere://x", "s3://bucket/originals"])
def test_a_place_nobody_can_open_is_refused_at_once(place: str) -> None:
    """Its scheme is not known, or its package is not installed."""
    with pytest.raises(ValueError, match=r"nowhere|s3fs"):
        Originals(place)
