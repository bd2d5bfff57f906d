"""Workspaces as files from the command line and both clients, against a gateway in memory."""

import io
from pathlib import Path

import pytest

from chassis.errors import Unavailable
from justesse.client import AsyncJustesse, ImportedWorkspace, Justesse, UnavailableError
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway


def test_a_workspace_is_written_into_a_file_and_made_of_it(line: CommandLine) -> None:
    """What comes in is what went out."""
    text = line.run("workspaces", "export", "demo", "demo.justesse", width=200).stdout
    imported = line.run("workspaces", "import", "demo.justesse", "--as", "copy", width=200).stdout
    told = line.json("workspaces", "import", "demo.justesse", "--as", "second")

    assert "Wrote workspace demo into demo.justesse: 15 bytes." in text
    assert (
        "Made workspace copy with 1 document (2 passages, 3 vectors, 4 glossary entries, 1 switch"
        in imported
    )
    assert line.state.imports == {"copy": b"archive of demo", "second": b"archive of demo"}
    assert told["vector_count"] == 3


def test_a_file_that_is_there_is_not_replaced_unasked(line: CommandLine) -> None:
    """Nor touched by an export that fails."""
    kept = Path("demo.justesse")
    kept.write_bytes(b"kept")
    refusal = line.error("workspaces", "export", "demo", "demo.justesse", code=2)
    line.state.archive_breaks = [Unavailable("the retriever is lost")]
    line.run("workspaces", "export", "demo", "demo.justesse", "--force", code=5)
    after_failure = kept.read_bytes()
    line.run("workspaces", "export", "demo", "demo.justesse", "--force")

    assert "--force" in refusal
    assert after_failure == b"kept"
    assert kept.read_bytes() == b"archive of demo"
    assert [one.name for one in Path().iterdir()] == ["demo.justesse"]


def test_files_that_cannot_be_read_or_written_are_told(line: CommandLine) -> None:
    """In one line, without a trace of Python."""
    line.error("workspaces", "import", "missing.justesse", "--as", "copy", code=7)
    line.error("workspaces", "export", "demo", "nowhere/demo.justesse", code=7)

    assert line.state.imports == {}


class _TornFile(io.BytesIO):
    """A file that cannot be read any further after its first part."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError("torn")
        return super().read(4)


def test_a_file_that_tears_makes_no_workspace(line: CommandLine) -> None:
    """The error of reading reaches the caller as it is."""
    with Justesse(line.address) as justesse, pytest.raises(OSError, match="torn"):
        justesse.import_workspace("copy", _TornFile(b"archive"))

    assert line.state.imports == {}


async def test_the_client_for_asyncio_does_the_same() -> None:
    """Out and in; a break is an error, never a shorter archive."""
    state = GatewayState(workspaces={"demo": {}})
    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        parts = [part async for part in justesse.export_workspace("demo")]
        imported = await justesse.import_workspace("copy", io.BytesIO(b"".join(parts)))
        state.archive_breaks = [Unavailable("the retriever is lost")]
        with pytest.raises(UnavailableError):
            _ = [part async for part in justesse.export_workspace("demo")]
        with pytest.raises(OSError, match="torn"):
            await justesse.import_workspace("torn", _TornFile(b"archive"))

    assert imported == ImportedWorkspace(1, 2, 3, 4, 1)
    assert state.imports == {"copy": b"archive of demo"}
