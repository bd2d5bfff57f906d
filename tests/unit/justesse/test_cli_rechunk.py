"""`justesse rechunk`, and what deletions say of kept files."""

from pathlib import Path

from chassis.errors import Unavailable
from tests.fakes.command_line import CommandLine


def take_in(line: CommandLine, *names: str) -> None:
    """Takes files of these names in."""
    for name in names:
        Path(name).write_text("texte")
    line.run("ingest", *names, "-w", "demo")


def test_all_documents_are_cut_anew_by_another_profile(line: CommandLine) -> None:
    """The workspace is set first; each document has its outcome."""
    take_in(line, "a.md", "b.md")
    outcomes = line.json("rechunk", "-w", "demo", "--profile", "sentences")

    assert [(one["external_id"], one["outcome"]) for one in outcomes] == [
        ("a.md", "replaced"),
        ("b.md", "replaced"),
    ]
    assert line.state.settings["demo"].chunking_profile == "sentences"
    assert "2 files: 2 replaced; 6 passages" in line.run("rechunk", "-w", "demo").stdout


def test_parts_can_be_set_and_taken_away_when_cutting_anew(line: CommandLine) -> None:
    """What is not named stays as it is; 0 is a choice, and the parts can be seen."""
    take_in(line, "a.md")
    line.run("rechunk", "-w", "demo", "--profile", "words", "--child-tokens", "120")
    described = line.run("workspaces", "describe", "demo").stdout
    line.run("rechunk", "-w", "demo", "--child-tokens", "0")
    sent = [
        (update.HasField("chunking_profile"), update.child_token_count)
        for update in line.state.updates
    ]

    assert "words, searched by parts of 120 tokens" in described
    assert sent == [(True, 120), (False, 0)]
    assert line.state.updates[1].HasField("child_token_count")
    assert line.state.settings["demo"].chunking_profile == "words"
    assert "parts" not in line.run("workspaces", "describe", "demo").stdout


def test_one_document_that_cannot_be_cut_anew_does_not_stop_the_others(line: CommandLine) -> None:
    """Its failure is told, and the exit code says that some failed."""
    take_in(line, "a.md")
    outcomes = line.json("rechunk", "none.md", "a.md", "-w", "demo", code=1)

    assert [one["outcome"] for one in outcomes] == ["failed", "replaced"]
    assert outcomes[0]["reason"] == "ORIGINAL_NOT_FOUND"
    assert line.state.updates == []


def test_a_lost_mesh_ends_the_run(line: CommandLine) -> None:
    """What was done is done; the same command goes on later."""
    take_in(line, "a.md")
    line.state.failures["RechunkDocument"] = Unavailable("the ingestion role cannot be reached")

    assert "cannot be reached" in line.error("rechunk", "-w", "demo", code=5)


def test_deletions_say_what_became_of_kept_files(line: CommandLine) -> None:
    """How many went, and why some may still be there."""
    take_in(line, "a.md", "b.md")
    gone = line.run("documents", "delete", "a.md", "-w", "demo").stdout
    line.state.original_failure = "the ingestion role cannot be reached"
    left = line.run("documents", "delete", "b.md", "-w", "demo").stdout

    assert "a.md: deleted, 2 passages and 1 kept file, bytes gone within 1 hour\n" in gone
    assert "kept files may still be there: the ingestion role cannot be reached" in left
