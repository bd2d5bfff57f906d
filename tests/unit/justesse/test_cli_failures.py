"""How commands end that cannot do what they were asked."""

import json
import re
from pathlib import Path

import pytest

from chassis.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    PermissionDenied,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from chassis.errors import FieldViolation as ServedViolation
from justesse.cli.application import app
from tests.fakes.command_line import RUNNER, CommandLine


def test_failure_as_json_is_one_object(line: CommandLine) -> None:
    """With --json a program reads failures of every kind as it reads results."""
    cases = [
        (["workspaces", "describe", "none"], 3, "WORKSPACE_NOT_FOUND"),
        (["status", "--address", "nowhere"], 2, ""),
        (["workspaces", "list", "--nope"], 2, ""),
    ]
    for arguments, code, reason in cases:
        result = line.run(*arguments, "--json", code=code)
        error = json.loads(result.stderr)["error"]
        assert (result.stdout, error["exit_code"], error["reason"]) == ("", code, reason)
        assert error["message"]


def test_value_that_cannot_be_sent_is_one_line(line: CommandLine) -> None:
    """Bytes that are no text end a command with a message."""
    assert "not UTF-8" in line.error("search", "caf\udce9", "-w", "demo", code=2)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "is empty"),
        ("localhost", "names no port"),
        ("localhost:99999", "'99999'"),
        ("http://localhost:50050", "without http://"),
    ],
)
def test_address_is_checked_before_it_is_dialled(
    line: CommandLine, address: str, words: str
) -> None:
    """A mistyped address is wrong usage and says what is wrong."""
    assert words in line.error("status", "--address", address, code=2)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidArgument("limit: is 0", field="limit"), 4, "error: limit: is 0"),
        (
            InvalidArgument("two mistakes", violations=[ServedViolation("limit", "is 0")]),
            4,
            "error: two mistakes; limit: is 0",
        ),
        (
            FailedPrecondition("drifted", reason="SPACE_DRIFTED"),
            4,
            "error: drifted (SPACE_DRIFTED)",
        ),
        (
            Unavailable("no retriever", reason="RETRIEVER_DOWN"),
            5,
            "error: no retriever (RETRIEVER_DOWN)",
        ),
        (DeadlineExceeded("too slow"), 6, "error: too slow"),
        (
            ResourceExhausted("quota used up", retry_after_s=2),
            7,
            r"error: quota used up; try again in 2 s \(request \w+\)",
        ),
        (PermissionDenied("not yours"), 7, r"error: not yours \(request \w+\)"),
        (Internal("broken\nin two"), 7, r"error: broken in two \(request \w+\)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ServiceError) else None,
)
def test_failures_become_a_line_and_a_code(
    line: CommandLine, error: ServiceError, code: int, message: str
) -> None:
    """Every kind of failure has its exit code and says in one line what can be done."""
    line.state.failures["ListWorkspaces"] = error
    text = line.error("workspaces", "list", code=code)
    if "request" in message:
        assert re.fullmatch(message, text)
    else:
        assert text == message


def test_nobody_there(unused_tcp_port: int) -> None:
    """Without a mesh, the message names the address and how to get one."""
    result = RUNNER.invoke(app, ["status", "--address", f"127.0.0.1:{unused_tcp_port}"])
    assert result.exit_code == 5
    assert f"no service can be reached at 127.0.0.1:{unused_tcp_port}" in result.stderr
    assert "justesse up" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "q"], "Missing option '--workspace'"),
        (["serch"], "No such command 'serch'"),
        (["search", "q", "-w", "demo", "--nope"], "No such option"),
        (["search", "q", "-w", "demo", "--limit", "many"], "Invalid value for '--limit'"),
        (["documents"], "Missing command"),
        (["search", "Quand", "part", "elle", "-w", "demo"], "several words in quotes"),
        (["--nope"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line(line: CommandLine, arguments: list[str], words: str) -> None:
    """Wrong usage exits with 2, says what is wrong and where help is."""
    message = line.error(*arguments, code=2)
    assert words in message
    assert "--help)" in message


def test_escape_sequences_of_documents_do_not_reach_the_terminal(
    line: CommandLine, tmp_path: Path
) -> None:
    """A title cannot repaint the terminal or hide what follows."""
    (tmp_path / "a.md").write_text("texte")
    line.run("ingest", "a.md", "-w", "demo", "--title", "\x1b[2Jevil [bold]title[/bold]")
    output = line.run("documents", "list", "-w", "demo", width=120).stdout
    assert "\x1b" not in output
    assert "[2Jevil [bold]title[/bold]" in output


def test_address_file_tells_where_the_mesh_is(line: CommandLine, tmp_path: Path) -> None:
    """Without an address, the mesh started from this folder is found; a named file counts more."""
    usual = tmp_path / "justesse-data" / "address.json"
    usual.parent.mkdir()
    web = {"http": "http://127.0.0.1:1", "docs": "http://127.0.0.1:1/docs"}
    usual.write_text(json.dumps({"address": line.address, **web}))
    result = RUNNER.invoke(app, ["status"])
    assert result.exit_code == 0
    assert "HTTP http://127.0.0.1:1\nDocs http://127.0.0.1:1/docs\n" in result.stdout
    named = {"JUSTESSE_ADDRESS_FILE": str(tmp_path / "other.json")}
    result = RUNNER.invoke(app, ["status"], env=named)
    assert (result.exit_code, "cannot be read" in result.stderr) == (7, True)
    (tmp_path / "other.json").write_text("{}")
    assert "names no address" in RUNNER.invoke(app, ["status"], env=named).stderr
    (tmp_path / "other.json").write_text("{")
    assert "is not JSON" in RUNNER.invoke(app, ["status"], env=named).stderr
