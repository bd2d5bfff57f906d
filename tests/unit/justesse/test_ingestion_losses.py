"""Ingestion where folders cannot be read, files have no path, and the mesh goes away."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from chassis.errors import InvalidArgument, ServiceError, Unavailable
from justesse.cli.application import app
from justesse.cli.ingestion.patience import PAUSES_S
from justesse.cli.ingestion.run import FileOutcome, Upload, ingest_files
from justesse.cli.ingestion.selection import SelectedFile, selected_files
from justesse.client import AsyncJustesse
from tests.fakes.clock import FakeClock
from tests.fakes.fake_gateway import GatewayState, fake_gateway, fake_gateway_in_thread

RUNNER = CliRunner()
AWAY = Unavailable("the ingestion role cannot be reached", reason="INGESTION_UNAVAILABLE")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a subfolder that this user may not list."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "closed").mkdir(parents=True)
    (tmp_path / "docs" / "open.md").write_text("texte")
    listed = os.scandir

    def refusing(path: Any = ".") -> Any:
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    return tmp_path


@pytest.fixture
def state() -> GatewayState:
    """What the gateway holds."""
    return GatewayState()


@pytest.fixture
def address(state: GatewayState) -> Iterator[str]:
    """Address of a running gateway."""
    with fake_gateway_in_thread(state) as listening:
        yield listening


def ingest(address: str, *arguments: str, given: bytes = b"") -> Result:
    """Runs `justesse ingest --create` into the workspace "demo"."""
    command = ["ingest", *arguments, "-w", "demo", "--create"]
    environment = {"JUSTESSE_ADDRESS": address, "COLUMNS": "100"}
    return RUNNER.invoke(app, command, env=environment, input=given)


def found(*paths: str) -> list[tuple[str, str]]:
    """Lists ids and problems of the files that paths name."""
    return [(file.external_id, file.problem) for file in selected_files(paths)]


UNREADABLE = "the folder cannot be read: permission denied"


def test_folder_that_cannot_be_read_is_a_failure(folder: Path, address: str) -> None:
    """What was asked for and not seen is told, and the exit code says that a part failed."""
    result = ingest(address, "docs", "--json")
    assert result.exit_code == 1
    outcomes = json.loads(result.stdout)
    told = [(each["external_id"], each["outcome"], each["message"]) for each in outcomes]
    assert told == [("closed", "failed", UNREADABLE), ("open.md", "created", "")]


def test_folder_named_itself_is_not_called_empty(folder: Path) -> None:
    """A folder that cannot be read may hold anything."""
    assert found("docs/closed") == [("closed", UNREADABLE)]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("docs/**/*.md", True), ("docs/*/*.md", True), ("docs/c*/*.md", True), ("docs/*.md", False)],
)
def test_pattern_tells_of_folders_it_looks_into(folder: Path, pattern: str, told: bool) -> None:
    """A pattern passes over what it would not have looked into, and nothing else."""
    assert (("closed", UNREADABLE) in found(pattern)) == told


def test_what_is_no_file_is_not_opened(folder: Path) -> None:
    """A pipe without a writer would be read for ever; a link may lead nowhere."""
    os.mkfifo(folder / "docs" / "pipe")
    (folder / "docs" / "link.md").symlink_to("gone")
    problems = dict(found("docs"))
    assert problems["pipe"] == "it is no regular file"
    assert problems["link.md"] == "its link leads nowhere"


def test_standard_input_is_a_file(address: str, state: GatewayState) -> None:
    """What is piped in is taken in whole under the name given."""
    options = ("--file-name", "notes.md", "--valid-from=2024-05-01", "--valid-until=2025-01-01")
    result = ingest(address, "-", *options, given=b"texte \xc3\xa9crit")
    assert result.exit_code == 0, result.output
    taken = state.workspaces["demo"]["notes.md"]
    assert taken.content == "texte écrit".encode()
    assert taken.header.file_name == "notes.md"
    assert taken.header.valid_from.ToJsonString() == "2024-05-01T00:00:00Z"
    assert taken.header.valid_until.ToJsonString() == "2025-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-"], "--file-name"),
        (["-", "-", "--file-name=a.md"], "only once"),
        (["a.md", "--valid-from=soon"], "--valid-from: 'soon' is no moment"),
    ],
)
def test_wrong_usage_of_ingest(address: str, arguments: list[str], words: str) -> None:
    """A file without a name and a moment that is none are told before anything is sent."""
    result = ingest(address, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_remarks_say_nothing_twice(folder: Path, address: str, state: GatewayState) -> None:
    """The name of the file stands in its row only; waiting passages are told once a row."""
    text = "open.md: the file holds no text"
    state.failures_once["IngestDocument"] = [InvalidArgument(text, reason="NO_TEXT")]
    failed = ingest(address, "docs/open.md").stdout
    assert failed.count("open.md") == 1
    state.awaiting_passage_count = 1
    state.ingestion_warnings = ["passages that wait for vectors: 1 (no embedder)"]
    told = ingest(address, "docs/open.md").stdout
    assert told.count("wait") == 2
    assert "1 file: 1 created; 2 passages; 1 passage waits to be embedded" in told


def uploads(count: int) -> list[Upload]:
    """Names files that need no disk."""
    return [
        Upload(SelectedFile(Path("-"), f"{n}.md", content=b"texte"), {"external_id": f"{n}.md"},
               f"{n}.md")
        for n in range(count)
    ]  # fmt: skip


async def taken_in(
    state: GatewayState, count: int, failures: list[ServiceError]
) -> tuple[list[FileOutcome], FakeClock]:
    """Takes files in while uploads fail in turn; returns the outcomes and the clock waited by."""
    clock = FakeClock(auto=True)
    state.workspaces["demo"] = {}
    state.failures_once["IngestDocument"] = failures
    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        outcomes = await ingest_files(
            justesse,
            "demo",
            uploads(count),
            timeout=10,
            report=lambda _: None,
            pause=clock.sleep,
        )
    return list(outcomes), clock


async def test_upload_is_sent_again_while_a_process_restarts(state: GatewayState) -> None:
    """A process that is back within seconds costs a pause and no file."""
    outcomes, clock = await taken_in(state, 1, [AWAY, AWAY])
    assert [each.outcome for each in outcomes] == ["created"]
    assert clock.slept == list(PAUSES_S[:2])


async def test_other_failures_are_not_sent_again(state: GatewayState) -> None:
    """What is wrong with a file stays wrong."""
    outcomes, clock = await taken_in(state, 2, [InvalidArgument("wrong")] * 2)
    assert [each.outcome for each in outcomes] == ["failed", "failed"]
    assert clock.slept == []


async def test_lost_part_of_the_mesh_ends_the_run(state: GatewayState) -> None:
    """After as many failures in a row as uploads at once and one more, the rest is skipped."""
    outcomes, _ = await taken_in(state, 20, [AWAY] * 1000)
    kinds = [each.outcome for each in outcomes]
    assert kinds.count("failed") == 3
    assert kinds.count("skipped") == 17


async def test_file_that_ends_its_reader_fails_alone(state: GatewayState) -> None:
    """Failures that end with a success between them do not add up."""
    tries = len(PAUSES_S) + 1
    outcomes, _ = await taken_in(state, 8, [AWAY] * (2 * tries))
    kinds = [each.outcome for each in outcomes]
    assert "skipped" not in kinds
    assert kinds.count("created") >= 6


async def test_lost_gateway_ends_the_run_at_once(unused_tcp_port: int) -> None:
    """Where nothing listens any more, one file says so, and the others are only counted."""
    clock = FakeClock(auto=True)
    async with AsyncJustesse(f"127.0.0.1:{unused_tcp_port}") as justesse:
        outcomes = await ingest_files(
            justesse, "demo", uploads(9), timeout=10, report=lambda _: None, pause=clock.sleep
        )
    assert [each.outcome for each in outcomes].count("failed") == 1
    assert [each.outcome for each in outcomes].count("skipped") == 8


def test_skipped_files_are_counted_and_told_by_the_exit_code(
    tmp_path: Path, address: str, state: GatewayState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table holds what was tried; the sum says how to go on."""
    monkeypatch.setattr("justesse.cli.ingestion.patience.PAUSES_S", ())
    for number in range(9):
        (tmp_path / f"{number}.md").write_text("texte")
    state.failures["IngestDocument"] = AWAY
    result = ingest(address, str(tmp_path))
    assert result.exit_code == 5
    assert "9 files: 3 failed, 6 skipped; 0 passages" in result.stdout
    assert "run the same command again" in result.stdout
    assert result.stdout.count("cannot be reached") == 3
