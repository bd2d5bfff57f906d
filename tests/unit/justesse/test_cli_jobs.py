"""`justesse jobs`, and files handed over in the background."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chassis.errors import Unavailable
from justesse.cli import job_watching
from justesse.cli.ingestion.selection import selected_files
from tests.fakes.command_line import CommandLine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of several kinds."""
    folder = tmp_path / "docs"
    for name in ("index.md", "orders/bl.md", "orders/bl.pdf", "notes.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"texte de {name}")
    return folder


def handed_over(line: CommandLine, *arguments: str) -> str:
    """Hands files over and returns the id of their only job."""
    (job,) = line.json("ingest", *arguments, "--background", "-w", "demo")["jobs"]
    job_id: str = job["job_id"]
    return job_id


@pytest.mark.parametrize(
    ("globs", "names"),
    [
        (["*.md"], ["index.md", "orders/bl.md"]),
        (["**/*.md", "*.txt"], ["index.md", "notes.txt", "orders/bl.md"]),
        (["orders/*"], ["orders/bl.md", "orders/bl.pdf"]),
    ],
)
def test_globs_choose_among_the_files_of_a_folder(
    folder: Path, globs: list[str], names: list[str]
) -> None:
    """A file that is named itself is taken whatever they say."""
    chosen = selected_files([str(folder)], globs=globs)
    named = selected_files([str(folder / "notes.txt")], globs=["*.md"])

    assert [file.external_id for file in chosen] == names
    assert [(file.external_id, file.problem) for file in named] == [("notes.txt", "")]


def test_a_glob_that_fits_nothing_is_told(line: CommandLine, folder: Path) -> None:
    """As a failure, which the exit code shows."""
    result = line.run("ingest", str(folder), "--glob", "*.docx", "-w", "demo", code=1)

    assert "no files that *.docx fits" in re.sub(r"\s+", " ", result.output)


def test_files_handed_over_are_taken_in_later(line: CommandLine, folder: Path) -> None:
    """The command ends with ids; watching shows each result, and ends with 1 if one failed."""
    (folder / "bad.md").write_text("unreadable")
    result = line.run("ingest", str(folder), "--background", "-w", "demo")
    job_id = result.stdout.split(":")[0]

    assert "5 files queued" in result.stdout
    assert line.state.workspaces["demo"] == {}
    watched = line.run("jobs", "watch", job_id, "-w", "demo", code=1, width=120)
    assert "created" in watched.stdout
    assert "it cannot be read" in watched.stdout
    assert sorted(line.state.workspaces["demo"]) == [
        "index.md",
        "notes.txt",
        "orders/bl.md",
        "orders/bl.pdf",
    ]


def test_a_file_that_cannot_be_read_is_left_out(line: CommandLine, folder: Path) -> None:
    """The others are handed over; the exit code says that one is missing."""
    (folder / "notes.txt").unlink()
    (folder / "notes.txt").symlink_to(folder / "nowhere")

    result = line.json("ingest", str(folder), "--background", "-w", "demo", code=1)

    assert [file["message"] for file in result["left_out"]] == ["its link leads nowhere"]
    assert [job["file_count"] for job in result["jobs"]] == [3]


def test_facts_go_with_files_in_the_background(line: CommandLine, folder: Path) -> None:
    """The same as with files that are waited for."""
    job_id = handed_over(line, str(folder), "--glob", "*.pdf", "--category-from-folder")

    (taken,) = line.state.job_files[job_id]
    assert (taken.header.external_id, taken.header.category) == ("orders/bl.pdf", "orders")


def test_jobs_are_listed_shown_cancelled_and_retried(line: CommandLine, folder: Path) -> None:
    """For people and as JSON."""
    first = handed_over(line, str(folder / "index.md"))
    second = handed_over(line, str(folder))

    assert [job["job_id"] for job in line.json("jobs", "list", "-w", "demo")] == [second, first]
    assert len(line.json("jobs", "list", "-w", "demo", "--limit", "1")) == 1
    listed = line.run("jobs", "list", "-w", "demo").stdout
    assert "queued" in listed
    assert first in listed
    cancelled = line.run("jobs", "cancel", second, "-w", "demo").stdout
    assert "cancelled (4 cancelled)" in cancelled
    assert "orders/bl.pdf" in line.run("jobs", "show", second, "-w", "demo").stdout
    assert line.json("jobs", "retry", second, "-w", "demo")["state"] == "queued"
    assert line.json("jobs", "watch", second, "-w", "demo")["state"] == "indexed"
    assert "NOTHING_TO_RETRY" in line.error("jobs", "retry", second, "-w", "demo", code=4)


def test_a_workspace_without_jobs_says_so(line: CommandLine) -> None:
    """In words, not with an empty table."""
    assert line.run("jobs", "list", "-w", "demo").stdout == "The workspace demo has no jobs.\n"


def test_an_unknown_job_is_not_found(line: CommandLine) -> None:
    """By every command."""
    for command in ("show", "watch", "cancel", "retry"):
        assert "no job" in line.error("jobs", command, "0" * 32, "-w", "demo", code=3)


def test_a_watch_goes_on_when_the_mesh_is_back(
    line: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken connection is no end; one that stays broken is."""
    monkeypatch.setattr(job_watching, "PAUSES_S", (0.0, 0.0))
    job_id = handed_over(line, str(folder / "index.md"))
    line.state.watch_breaks.append(Unavailable("the role is lost"))

    assert line.json("jobs", "watch", job_id, "-w", "demo")["state"] == "indexed"

    line.state.failures["WatchJob"] = Unavailable("the role is lost")
    assert "the role is lost" in line.error("jobs", "watch", job_id, "-w", "demo", code=5)


def test_documents_are_deleted_by_their_source(line: CommandLine, folder: Path) -> None:
    """All that come from there and no other; nothing to delete shows in the exit code."""
    for name in ("index.md", "notes.txt"):
        line.run("ingest", str(folder / name), "--source-uri", "https://x/a", "-w", "demo")
    line.run("ingest", str(folder / "orders" / "bl.md"), "--source-uri", "https://x", "-w", "demo")
    delete = ("documents", "delete", "--source-uri", "https://x/a", "-w", "demo")

    assert "2 documents deleted, 4 passages, bytes gone within 1 hour" in line.run(*delete).stdout
    assert list(line.state.workspaces["demo"]) == ["bl.md"]
    assert line.json(*delete, code=1)["external_ids"] == []
    assert "--source-uri" in line.error("documents", "delete", "-w", "demo", code=2)
