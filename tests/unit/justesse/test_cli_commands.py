"""The commands against a gateway in memory: what they print and how they exit."""

import json
from pathlib import Path

import pytest

from justesse.cli.application import app
from justesse.gateway.v1 import mesh_pb2
from tests.fakes.command_line import RUNNER, CommandLine, rows
from tests.fakes.fake_gateway import SPACE


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
        "original_count": 0,
        "original_failure": "",
        "purge_within_s": 3_600,
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
    assert ["year", "2024"] in rows(shown)
    assert "[0] page 2 · Guide · Retards\npassage 0" in shown
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
    refreshed = line.run("switches", "refresh", code=1).stdout
    assert "The last refresh failed: database is locked" in refreshed
    assert line.json("switches", "refresh", code=1)["refresh_error"] == "database is locked"
    assert "there is no switch" in line.error("switches", "set", "nope", "1", code=3)


def test_bad_value_stands_apart_from_the_description(line: CommandLine) -> None:
    """What a switch does and why its value was refused are two lines."""
    line.state.switch_error = "'maybe' is neither true nor false"
    described = line.run("switches", "list", width=200).stdout.splitlines()
    assert described[2].rstrip().endswith("Whether hits are reranked")
    assert described[3].strip() == "'maybe' is neither true nor false"


def test_passages_that_wait_can_be_seen(line: CommandLine, tmp_path: Path) -> None:
    """Lists, documents and workspaces count what waits for a vector and say how to complete it."""
    (tmp_path / "a.md").write_text("texte")
    line.run("ingest", "a.md", "-w", "demo", "--metadata", 'site="Le Havre"')
    assert "wait" not in line.run("documents", "list", "-w", "demo").stdout
    line.state.awaiting_passage_count = 1
    listed = line.run("documents", "list", "-w", "demo").stdout
    assert rows(listed)[0][-2:] == ["Waiting", "Stored"]
    assert "1 passage waits to be embedded; vectors come once" in listed
    shown = line.run("documents", "show", "a.md", "-w", "demo").stdout
    assert "1 passage waits to be embedded" in shown
    assert "[0] page 2 · Guide · Retards · waits to be embedded" in shown
    assert ["site", '"Le Havre"'] in rows(shown)
    flags = "longer than the model's input, embedded in slices · cuts a word too long for a passage"
    shown_wide = line.run("documents", "show", "a.md", "-w", "demo", width=200).stdout
    assert f"[1] page 2 · Guide · Retards · {flags}\n" in shown_wide
    described = line.run("workspaces", "describe", "demo", width=120).stdout
    assert "1 of 2" in described
    assert "1 passage waits to be embedded in the preferred space" in described
    assert line.json("documents", "list", "-w", "demo")[0]["awaiting_passage_count"] == 1


def test_asked_for_and_present_index_are_told_apart(line: CommandLine) -> None:
    """A graph that was asked for and is not built yet is explained; `unknown` is no choice."""
    line.run("workspaces", "create", "graph", "--dense-index", "hnsw")
    described = line.run("workspaces", "describe", "graph").stdout
    assert ["Dense index", "hnsw (asked for)"] in rows(described)
    assert "a graph is built once enough vectors have gathered" in described
    assert "built once" not in line.run("workspaces", "describe", "demo").stdout
    message = line.error("workspaces", "create", "x", "--dense-index", "unknown", code=2)
    assert "'auto', 'flat', 'hnsw'" in message


def test_status_says_who_does_not_serve(line: CommandLine) -> None:
    """A mesh that serves exits with 0; one that lacks a service names it and exits with 1."""
    assert ["retriever", "127.0.0.1:50052", "serving", "0.5"] in rows(line.run("status").stdout)
    line.state.embedder_health = mesh_pb2.SERVICE_HEALTH_UNREACHABLE
    table = rows(line.run("status", code=1).stdout)
    assert ["embedder", "127.0.0.1:50051", "unreachable", "-", "connection refused"] in table
    assert line.json("status", code=1)["services"][0]["health"] == "unreachable"


def test_version_needs_no_mesh() -> None:
    """The version of the program is told without a gateway, as a command and as an option."""
    result = RUNNER.invoke(app, ["version", "--json"], env={"JUSTESSE_ADDRESS": "127.0.0.1:1"})
    number = json.loads(result.stdout)["version"]
    assert RUNNER.invoke(app, ["--version"]).stdout == f"justesse {number}\n"


def test_without_a_command_help_is_shown(line: CommandLine) -> None:
    """The bare command explains itself, exit codes included."""
    output = line.run().stdout
    assert "5 unavailable" in " ".join(output.split())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["switches", "list"], ["Value true", "From database", "What it does Whether hits"]),
        (["status"], ["Health serving", "Address 127.0.0.1:50052", "State available"]),
        (["documents", "list", "-w", "demo"], ["Document a.md", "Title a.md", "Passages 2"]),
        (["workspaces", "list"], ["Workspace demo", "Documents 1", "Language fr"]),
        (["workspaces", "describe", "demo"], ["Passages 2 of 2", "Index now flat"]),
        (["ingest", "a.md", "-w", "demo"], ["Outcome unchanged", "Document a.md", "Passages 2"]),
    ],
)
def test_narrow_terminal_loses_no_value(
    line: CommandLine, tmp_path: Path, arguments: list[str], told: list[str]
) -> None:
    """Where columns have no room, every value stands below the others with its name."""
    (tmp_path / "a.md").write_text("texte")
    line.run("ingest", "a.md", "-w", "demo")
    output = line.run(*arguments, width=40).stdout
    words = " ".join(output.split())
    assert [each for each in told if each not in words] == []
    assert max(len(row) for row in output.splitlines()) <= 40
    assert "…" not in output
