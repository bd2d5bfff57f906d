"""What stops a mesh before anything starts, and how a process's last words are told."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from justesse.cli.application import app
from justesse.cli.local_mesh.data_folder import FolderUnusableError, make_folder
from justesse.cli.local_mesh.log_lines import readable_lines
from justesse.cli.local_mesh.ports import PortsTakenError, free_layout, usual_layout

RUNNER = CliRunner()


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that something listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


def test_named_port_must_be_free(taken_port: int) -> None:
    """A port that was named is looked at before a process starts, free ports or not."""
    with pytest.raises(PortsTakenError, match=rf"{taken_port} \(--port\).*--free-ports"):
        free_layout(taken_port, None)
    with pytest.raises(PortsTakenError, match=r"\(--http-port\)"):
        free_layout(None, taken_port)
    with pytest.raises(PortsTakenError, match=r"--free-ports"):
        usual_layout({}, taken_port, None)


def test_port_belongs_to_one_door() -> None:
    """Two doors on one port are a mistake of the caller, told with both."""
    with pytest.raises(ValueError, match="--port and --http-port are both 40111"):
        free_layout(40_111, 40_111)
    with pytest.raises(ValueError, match="port 50051 is given twice, to embedder and gateway"):
        usual_layout({}, 50_051, None)


def test_highest_ports_can_be_named() -> None:
    """Where no port lies above, the doors beside the business port lie below it."""
    environment = {
        f"JUSTESSE_{name}_PORT": str(41_000 + index)
        for index, name in enumerate(("EMBEDDER", "RETRIEVER", "REWRITER", "RERANKER", "INGESTION"))
    }
    ports = usual_layout(environment, 65_500, 41_999)["gateway"]
    assert (ports.management, ports.metrics) == (64_500, 63_500)


def test_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    """The message says which folder is meant and what is wrong, without numbers."""
    (tmp_path / "file").touch()
    with pytest.raises(FolderUnusableError, match=r"the data folder cannot be .*it is a file"):
        make_folder(tmp_path / "file", "the data folder")
    with pytest.raises(FolderUnusableError, match="a part of the path is a file"):
        make_folder(tmp_path / "file" / "below", "the data folder")
    for option in ("--data-folder", "--log-folder"):
        arguments = ["up", "--free-ports", "--data-folder", str(tmp_path / "data")]
        result = RUNNER.invoke(app, [*arguments, option, str(tmp_path / "file")])
        assert result.exit_code == 7
        assert "it is a file; name another" in result.stderr
        assert "Errno" not in result.stderr


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told before a process meets it."""

    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(FolderUnusableError, match="no space is left on the disk"):
        make_folder(tmp_path, "the data folder")


def test_last_words_are_told_in_words() -> None:
    """JSON lines become words, a traceback its last line; small talk is left out."""
    lines = [
        '{"event":"serving HTTP","level":"info"}',
        '{"event":"cannot open","level":"error","error":"locked","exception":"Trace\\n  x\\nE: y"}',
        "cannot listen on 127.0.0.1:1 (business)",
        '{"not":"a log line"}',
        "",
    ]
    assert readable_lines(lines) == [
        "cannot open: locked: E: y",
        "cannot listen on 127.0.0.1:1 (business)",
        '{"not":"a log line"}',
    ]


def test_small_talk_is_better_than_nothing() -> None:
    """Where a log names no failure, its end is shown all the same."""
    assert readable_lines(['{"event":"serving","level":"info"}']) == ["serving"]
    assert readable_lines([]) == []
