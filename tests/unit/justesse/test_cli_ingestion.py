"""`justesse ingest`: which files are taken, with what facts, and what is said of each."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from justesse.cli.application import app
from justesse.cli.ingestion.metadata_pairs import metadata_from_pairs, value_from
from justesse.cli.ingestion.selection import selected_files
from tests.fakes.fake_gateway import GatewayState, fake_gateway_in_thread

RUNNER = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with documents in two subjects, and files that are nobody's documents."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "docs/orders/bl.md",
        "docs/orders/~$bl.docx",
        "docs/policies/retours.md",
        "docs/policies/.draft.md",
        "docs/.git/config",
        "docs/index.md",
        "alone.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"texte de {name}")
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


def ingest(address: str, *arguments: str) -> Result:
    """Runs `justesse ingest` into the workspace "demo"."""
    environment = {"JUSTESSE_ADDRESS": address, "COLUMNS": "100"}
    return RUNNER.invoke(app, ["ingest", *arguments, "-w", "demo"], env=environment)


def found(*paths: str) -> list[tuple[str, str]]:
    """Lists ids and problems of the files that paths name."""
    return [(file.external_id, file.problem) for file in selected_files(paths)]


def test_folder_gives_its_files_by_relative_path(folder: Path) -> None:
    """All files below a folder are taken but those of systems and editors."""
    assert found("docs") == [
        ("index.md", ""),
        ("orders/bl.md", ""),
        ("policies/retours.md", ""),
    ]


def test_file_is_identified_by_its_name(folder: Path) -> None:
    """A file that is named itself carries no folders in its id."""
    assert found("docs/orders/bl.md", "alone.md") == [("bl.md", ""), ("alone.md", "")]


def test_pattern_gives_paths_below_its_fixed_part(folder: Path) -> None:
    """A pattern that the shell did not resolve is resolved, folders included."""
    assert found("docs/**/*.md") == [
        ("index.md", ""),
        ("orders/bl.md", ""),
        ("policies/retours.md", ""),
    ]
    assert found("docs/*/*.txt") == [("docs/*/*.txt", "no file matches the pattern")]


def test_nothing_to_take_is_a_problem(folder: Path) -> None:
    """A path without files is reported instead of passed over."""
    (folder / "empty").mkdir()
    assert found("empty", "gone.md") == [
        ("empty", "the folder holds no files"),
        ("gone.md", "there is no such file or folder"),
    ]


def test_accents_of_ids_are_composed(folder: Path) -> None:
    """A file name from a system that writes accents apart names the same document."""
    (folder / "re\u0301sume\u0301.md").write_text("texte")

    assert found("re\u0301sume\u0301.md") == [("r\u00e9sum\u00e9.md", "")]


def test_two_files_of_one_id_do_not_replace_each_other(folder: Path) -> None:
    """The second file of an id is a problem; the same file named twice is taken once."""
    (folder / "bl.md").write_text("ein anderer")
    assert found("docs/orders/bl.md", "bl.md", "./bl.md") == [
        ("bl.md", ""),
        ("bl.md", "docs/orders/bl.md has the same id 'bl.md'"),
        ("bl.md", "docs/orders/bl.md has the same id 'bl.md'"),
    ]
    assert found("alone.md", "./alone.md") == [("alone.md", "")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("12", 12.0),
        ("-3.5", -3.5),
        ("0", 0.0),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("007", "007"),
        ("1_000", "1_000"),
        ("12 rue Haute", "12 rue Haute"),
        ("nan", "nan"),
        ('"12"', "12"),
        ('"', '"'),
        ("", ""),
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T10:00:00+00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-13-01", "2024-13-01"),
        ("BL-2024-117", "BL-2024-117"),
    ],
)
def test_metadata_is_typed_by_its_look(text: str, value: object) -> None:
    """What looks like a number, a truth value or a moment is one; codes and quotes stay text."""
    read = value_from(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("pairs", [["year"], ["=1"], ["year=1", "year=2"]])
def test_ill_formed_metadata_is_refused(pairs: list[str]) -> None:
    """A pair without a name or sign, or given twice, is a mistake and no guess."""
    with pytest.raises(ValueError, match=r"NAME=VALUE|given twice"):
        metadata_from_pairs(pairs)


def test_facts_reach_the_gateway(folder: Path, address: str, state: GatewayState) -> None:
    """What is said on the command line is said of every file."""
    result = ingest(
        address,
        "docs",
        "--create",
        "--category-from-folder",
        "--language=fr",
        "--keywords=retour, avoir",
        "--keywords=client",
        "--metadata=year=2024",
        "--metadata=code=007",
        "--version=v2",
        "--superseded",
    )
    assert result.exit_code == 0, result.output
    assert state.settings["demo"].language == "fr"
    header = state.workspaces["demo"]["policies/retours.md"].header
    assert (header.category, header.language, header.version) == ("policies", "fr", "v2")
    assert list(header.keywords) == ["retour", "avoir", "client"]
    assert header.metadata["year"].number_value == 2024
    assert header.metadata["code"].string_value == "007"
    assert header.superseded


def test_single_file_can_be_named(folder: Path, address: str, state: GatewayState) -> None:
    """Id, title and source belong to one file; with several they are a mistake."""
    options = ("--external-id=x-1", "--title=Tarifs", "--source-uri=https://example.org/t")
    assert ingest(address, "alone.md", "--create", *options).exit_code == 0
    assert state.workspaces["demo"]["x-1"].header.title == "Tarifs"
    result = ingest(address, "docs", *options)
    assert result.exit_code == 2
    assert "--external-id, --title, --source-uri: for a single file only, not 3" in result.stderr


def test_prefix_keeps_ids_equal(folder: Path, address: str, state: GatewayState) -> None:
    """A part of a folder can be taken in again under the ids that the whole gave it."""
    ingest(address, "docs", "--create")
    result = ingest(address, "docs/orders", "--id-prefix=orders/", "--json")
    assert [each["outcome"] for each in json.loads(result.stdout)] == ["unchanged"]


def test_failure_does_not_stop_the_others(folder: Path, address: str, state: GatewayState) -> None:
    """Every file has its line, and one that failed its reason; the exit code tells."""
    (folder / "docs" / "bad.md").write_text("unreadable")
    ingest(address, "docs/orders", "--create", "--category=x")
    (folder / "docs" / "orders" / "bl.md").write_text("neu")
    ingest(address, "docs/index.md")
    result = ingest(address, "docs/index.md", "docs/orders", "docs/bad.md", "alone.md", "gone.md")
    assert result.exit_code == 1
    cells = [line.strip().split(maxsplit=2) for line in result.stdout.splitlines() if line]
    assert cells[2] == ["unchanged", "index.md", "2"]
    assert cells[3] == ["replaced", "bl.md", "2"]
    assert cells[4] == ["failed", "bad.md", "bad.md cannot be read (UNREADABLE_FILE)"]
    assert cells[5] == ["created", "alone.md", "2"]
    assert cells[6] == ["failed", "gone.md", "there is no such file or folder"]
    assert "5 files: 1 created, 1 replaced, 1 unchanged, 2 failed; 6 passages" in result.stdout
    assert result.stderr == ""
    assert "\x1b" not in result.output


def test_outcomes_as_json(folder: Path, address: str) -> None:
    """Programs get one object a file and nothing else on standard output."""
    result = ingest(address, "alone.md", "gone.md", "--create", "--json")
    outcomes: list[dict[str, Any]] = json.loads(result.stdout)
    assert [each["outcome"] for each in outcomes] == ["created", "failed"]
    assert outcomes[1]["message"] == "there is no such file or folder"


def test_unknown_workspace_is_one_error(folder: Path, address: str) -> None:
    """A workspace that is not there is said once and not for every file."""
    result = ingest(address, "docs")
    assert (result.exit_code, result.stdout) == (3, "")
    told = "error: there is no workspace 'demo'; --create makes it (WORKSPACE_NOT_FOUND)\n"
    assert result.stderr == told


def test_file_that_may_not_be_read_fails_alone(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system says of a file is the reason of its failure."""
    opened = Path.open

    def refusing(path: Path, *arguments: Any, **named: Any) -> Any:
        if path.name == "alone.md":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", refusing)
    result = ingest(address, "alone.md", "docs/index.md", "--create", "--json")
    assert result.exit_code == 1
    outcomes = json.loads(result.stdout)
    assert [each["message"] for each in outcomes] == ["permission denied", ""]


def test_name_that_is_no_text_fails_alone(folder: Path, address: str) -> None:
    """A file name that is not UTF-8 is reported and does not end the run."""
    raw = os.fsencode(folder / "docs") + b"/caf\xe9.md"
    with open(raw, "wb") as file:
        file.write(b"x")
    result = ingest(address, "docs", "--create", "--json")
    assert result.exit_code == 1
    messages = {each["external_id"]: each["message"] for each in json.loads(result.stdout)}
    assert messages["caf?.md"] == "its name is not valid UTF-8; rename the file"
    assert messages["index.md"] == ""
