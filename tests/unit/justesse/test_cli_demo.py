"""What `justesse demo` shows, and what it does without its folder; drawing on a terminal."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from justesse.cli.application import app
from justesse.cli.demonstration import demonstrate, demonstration_environment
from justesse.cli.ingestion.progress import COUNT_EVERY_S, shown_progress
from justesse.cli.ingestion.run import FAILED, FileOutcome
from justesse.cli.ingestion.selection import selected_files
from justesse.cli.snippets import Snippet, body_start
from tests.fakes.clock import FakeClock
from tests.fakes.fake_gateway import GatewayState, fake_gateway

RUNNER = CliRunner()


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of documents, one of which cannot be read."""
    for name, text in (("orders/bl.md", "texte"), ("policies/retours.md", "unreadable")):
        path = tmp_path / "documents" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path / "documents"


async def test_demonstration_takes_in_and_asks(documents: Path) -> None:
    """All documents are taken in under their folders' names, and every question is answered."""
    state = GatewayState()
    console = Console(file=io.StringIO(), width=80)
    async with fake_gateway(state) as address:
        result = await demonstrate(
            console, address, selected_files([str(documents)]), ["Pourquoi ?", "Combien ?"]
        )
    assert [outcome.outcome for outcome in result.files] == ["created", "failed"]
    assert state.workspaces["demo"]["orders/bl.md"].header.category == "orders"
    assert [request.query for request in state.searches] == ["Pourquoi ?", "Combien ?"]
    assert [answer.question for answer in result.answers] == ["Pourquoi ?", "Combien ?"]
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "UNREADABLE_FILE" in shown
    assert "2 files: 1 created, 1 failed; 2 passages" in shown
    assert "2. Combien ?" in shown
    assert shown.count("Analyse des retards de livraison") == 2


def test_demonstration_sends_nothing_to_a_vendor_unasked() -> None:
    """A key that happens to be set is not used, providers that are named are; a database of
    somebody else's is not written to."""
    theirs = "sqlite:///theirs"
    keys = {
        "MISTRAL_API_KEY": "k",
        "JUSTESSE_GATEWAY_DATABASE_URL": theirs,
        "JUSTESSE_INGESTION_DATABASE_URL": theirs,
    }

    assert demonstration_environment(keys) == {
        "MISTRAL_API_KEY": "k",
        "JUSTESSE_EMBEDDER_PROVIDERS": "embedded",
    }
    assert demonstration_environment({"JUSTESSE_EMBEDDER_PROVIDERS": "mistral"}) == {
        "JUSTESSE_EMBEDDER_PROVIDERS": "mistral"
    }


@pytest.mark.parametrize("make_questions", [True, False])
def test_demonstration_needs_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_questions: bool
) -> None:
    """A folder without questions or documents is wrong usage; no mesh is started for it."""
    monkeypatch.chdir(tmp_path)
    if make_questions:
        (tmp_path / "questions.txt").write_text("Pourquoi ?\n")
    result = RUNNER.invoke(app, ["demo", "."])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert ("documents" if make_questions else "questions.txt") in result.stderr


def outcome(name: str) -> FileOutcome:
    """A file that was taken in."""
    return FileOutcome(name, name, "created", 2)


def test_terminal_gets_a_bar() -> None:
    """On a terminal progress is one line that is drawn anew, and long names do not break it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with shown_progress(console, 2) as report:
        report(outcome("a" * 200))
        report(outcome("[bold]b.md"))
    assert isinstance(console.file, io.StringIO)
    output = console.file.getvalue()
    assert "2/2" in output
    assert "[bold]b.md" in output
    assert "aaaaaaaaaa…" in output or "1/2" not in output


def test_pipe_gets_a_count_now_and_then() -> None:
    """Elsewhere files are not listed a second time; a long run shows how far it is."""
    console = Console(file=io.StringIO(), width=40)
    clock = FakeClock()
    failed = FileOutcome("b.md", "b.md", FAILED, message="a reason")
    with shown_progress(console, 4, clock) as report:
        report(outcome("a.md"))
        clock.now += COUNT_EVERY_S
        report(failed)
        report(outcome("c.md"))
        clock.now += COUNT_EVERY_S
        report(outcome("d.md"))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "2 of 4 files, 1 failed\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("court", ["court"]),
        ("un deux trois quatre", ["un deux", "trois", "quatre"]),
        ("un deux trois quatre cinq", ["un deux", "trois", "quatre…"]),
        ("anticonstitutionnellement", ["anticonsti", "tutionnell", "ement"]),
        ("tab\tet\nligne", ["tab et", "ligne"]),
    ],
)
def test_snippet_is_cut_by_lines(text: str, lines: list[str]) -> None:
    """A long passage is shown by its first three lines, whatever the width."""
    console = Console(file=io.StringIO(), width=10)
    console.print(Snippet(text))
    assert isinstance(console.file, io.StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == lines


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("# Tarifs\n\n## Port\nLa franchise", "La franchise"),
        ("La franchise\n# Port", "La franchise\n# Port"),
        ("# Tarifs", "# Tarifs"),
        ("", ""),
    ],
)
def test_snippet_begins_after_the_headings(text: str, body: str) -> None:
    """What the title says already does not fill a snippet, unless there is nothing else."""
    assert text[body_start(text) :] == body
