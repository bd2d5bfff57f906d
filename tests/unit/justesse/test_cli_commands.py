"""The commands against a gateway in memory: what they print and how they exit."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

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
from justesse.gateway.v1 import mesh_pb2
from tests.fakes.fake_gateway import SPACE, GatewayState, fake_gateway_in_thread

RUNNER = CliRunner()


class CommandLine:
    """Runs commands in this process against the fake."""

    def __init__(self, address: str, state: GatewayState) -> None:
        self.address = address
        self.state = state

    def run(self, *arguments: str, width: int = 80, code: int = 0, answer: str = "") -> Result:
        """Runs one command and checks its exit code."""
        environment = {"JUSTESSE_ADDRESS": self.address, "COLUMNS": str(width)}
        result = RUNNER.invoke(app, list(arguments), env=environment, input=answer)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Runs one command with --json; its standard output is one JSON value."""
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def error(self, *arguments: str, code: int) -> str:
        """Runs one command that fails; its message is one line, and there is no result."""
        result = self.run(*arguments, code=code)
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        return result.stderr.strip()


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """A command line with the workspace "demo", in an empty folder."""
    monkeypatch.chdir(tmp_path)
    state = GatewayState()
    with fake_gateway_in_thread(state) as address:
        line = CommandLine(address, state)
        line.run("workspaces", "create", "demo")
        yield line


def rows(text: str) -> list[list[str]]:
    """Splits the lines of a table into cells."""
    return [re.split(r"\s{2,}", row.strip()) for row in text.splitlines() if row.strip()]


@pytest.mark.parametrize("width", [80, 120])
def test_search_shows_every_stage(line: CommandLine, width: int) -> None:
    """Ranks stand above scores in the stages' columns, and no line is wider than the terminal."""
    output = line.run("search", "Pourquoi des retards ?", "-w", "demo", width=width).stdout
    table = rows(output)
    assert table[0] == ["#", "Passage", "Dense", "BM25", "Fused", "Rerank"]
    assert table[2] == ["1", "Analyse des retards de livraison", "2", "1", "3", "1"]
    assert table[3][-4:] == ["0.875", "12.50", "0.0325", "0.969"]
    assert table[3][0].startswith("shipments/retards.pdf · version 2024-05")
    assert ["2", "Bons de livraison", "-", "2", "7", "-"] in table
    assert ["orders/bl.md", "-", "3.25", "0.0161", "-"] in table
    assert max(len(row) for row in output.splitlines()) <= width


def test_search_shows_the_receipt(line: CommandLine) -> None:
    """Every stage's outcome, reason, worker, time and cost can be read."""
    output = line.run("search", "q", "-w", "demo", width=120).stdout
    request_id = line.state.request_ids[-1]
    assert f"Receipt {request_id}: 38.5 ms, 0.000210 EUR, degraded" in output
    receipt = rows(output[output.index("Receipt") :])
    assert [
        "rewrite",
        "skipped",
        "NOT_CONFIGURED: no chat model is configured",
        "1.2",
        "-",
        "-",
    ] in (receipt)
    assert [
        "embed",
        "ran",
        "embedded multilingual-e5-small",
        "21.0",
        "9",
        "0.000210 EUR",
    ] in receipt
    assert ["rerank", "degraded", "UNAVAILABLE: the reranker does not answer", "0.0", "-", "-"] in (
        receipt
    )
    assert "Also searched for: causes retards livraison" in output


def test_search_passes_its_options_on(line: CommandLine) -> None:
    """What is asked for on the command line is what the gateway hears."""
    line.run("search", "q", "--workspace", "demo", "--limit", "3", "--per-document", "1")
    request = line.state.searches[-1]
    assert (request.limit, request.passages_per_document) == (3, 1)


def test_search_as_json_holds_all_scores(line: CommandLine) -> None:
    """Programs get every list, space and stage, and absent values as null."""
    result = line.json("search", "q", "-w", "demo")
    assert result["hits"][0]["scores"]["space_scores"][0]["space_id"] == SPACE
    assert result["hits"][1]["scores"]["rerank_rank"] is None
    assert result["receipt"]["stages"][3]["outcome"] == "degraded"
    assert result["hits"][0]["source"]["update_time"] == "2023-11-14T22:13:20+00:00"


def test_workspaces_are_created_listed_described_and_deleted(line: CommandLine) -> None:
    """A workspace can be followed from its beginning to its end."""
    created = line.json(
        "workspaces", "create", "other", "--language", "en", "--dense-index", "hnsw"
    )
    assert created["settings"]["language"] == "en"
    assert created["settings"]["dense_index_kind"] == "hnsw"
    assert [each["slug"] for each in line.json("workspaces", "list")] == ["demo", "other"]
    assert ["other", "en", "0", "0", "1"] in [
        row[:5] for row in rows(line.run("workspaces", "list").stdout)
    ]
    assert SPACE in line.run("workspaces", "describe", "other").stdout
    assert line.json("workspaces", "delete", "other", "--yes") == {
        "document_count": 0,
        "passage_count": 0,
    }
    message = line.error("workspaces", "describe", "other", code=3)
    assert message == "error: there is no workspace 'other' (WORKSPACE_NOT_FOUND)"


def test_workspace_is_not_deleted_without_a_yes(line: CommandLine) -> None:
    """Where nobody can be asked, nothing is deleted."""
    assert "say --yes" in line.error("workspaces", "delete", "demo", code=2)
    assert "demo" in line.state.workspaces


def test_documents_are_listed_shown_and_deleted(line: CommandLine, tmp_path: Path) -> None:
    """A document can be found by its id, read and deleted; one that is not there is said."""
    (tmp_path / "a.md").write_text("texte")
    line.run("ingest", "a.md", "-w", "demo", "--title", "Tarifs", "--metadata", "year=2024")
    assert rows(line.run("documents", "list", "-w", "demo").stdout)[2][:3] == [
        "a.md",
        "Tarifs",
        "2",
    ]
    shown = line.run("documents", "show", "a.md", "-w", "demo").stdout
    assert ["Title", "Tarifs"] in rows(shown)
    assert ["year", "2024.0"] in rows(shown)
    assert "[1] page 2 · Guide · Retards\npassage 1" in shown
    deleted = line.json("documents", "delete", "a.md", "b.md", "-w", "demo", code=1)
    assert (deleted["a.md"]["deleted"], deleted["b.md"]["deleted"]) == (True, False)
    assert line.json("documents", "list", "-w", "demo") == []
    assert "holds no documents" in line.run("documents", "list", "-w", "demo").stdout


def test_switches_are_listed_set_and_refreshed(line: CommandLine) -> None:
    """A switch's value, origin and a failed refresh can be seen."""
    output = line.run("switches", "set", "rag_reranking_enabled", "false").stdout
    assert output == "rag_reranking_enabled is now false\n"
    table = rows(line.run("switches", "list").stdout)
    assert table[2][:4] == ["rag_reranking_enabled", "false", "true", "database"]
    line.state.refresh_error = "database is locked"
    refreshed = line.run("switches", "refresh").stdout
    assert "The last refresh failed: database is locked" in refreshed
    assert "there is no switch" in line.error("switches", "set", "nope", "1", code=3)


def test_status_says_who_does_not_serve(line: CommandLine) -> None:
    """A mesh that serves exits with 0; one that lacks a service names it and exits with 1."""
    assert ["retriever", "127.0.0.1:50052", "serving", "0.5"] in rows(line.run("status").stdout)
    line.state.embedder_health = mesh_pb2.SERVICE_HEALTH_UNREACHABLE
    table = rows(line.run("status", code=1).stdout)
    assert ["embedder", "127.0.0.1:50051", "unreachable", "-", "connection refused"] in table
    assert line.json("status", code=1)["services"][0]["health"] == "unreachable"


def test_version_needs_no_mesh() -> None:
    """The version of the program is told without a gateway."""
    result = RUNNER.invoke(app, ["version", "--json"], env={"JUSTESSE_ADDRESS": "127.0.0.1:1"})
    assert json.loads(result.stdout)["version"]


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
        (["--nope"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line(line: CommandLine, arguments: list[str], words: str) -> None:
    """Wrong usage exits with 2, says what is wrong and where help is."""
    message = line.error(*arguments, code=2)
    assert words in message
    assert "--help)" in message


def test_without_a_command_help_is_shown(line: CommandLine) -> None:
    """The bare command explains itself, exit codes included."""
    output = line.run().stdout
    assert "5 unavailable" in " ".join(output.split())


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
    usual.write_text(json.dumps({"address": line.address}))
    assert RUNNER.invoke(app, ["status"]).exit_code == 0
    named = {"JUSTESSE_ADDRESS_FILE": str(tmp_path / "other.json")}
    result = RUNNER.invoke(app, ["status"], env=named)
    assert (result.exit_code, "cannot be read" in result.stderr) == (7, True)
    (tmp_path / "other.json").write_text("{}")
    assert "names no address" in RUNNER.invoke(app, ["status"], env=named).stderr
    (tmp_path / "other.json").write_text("{")
    assert "is not JSON" in RUNNER.invoke(app, ["status"], env=named).stderr
