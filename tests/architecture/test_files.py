"""How files are named, how long they may be, and that the README's map is true."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 300
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "base", "shared", "lib"}
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")


def tracked_files() -> list[Path]:
    """Lists the files of the project that git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [Path(line) for line in listing.stdout.splitlines() if (ROOT / line).exists()]


def test_no_hand_written_file_passes_300_lines() -> None:
    """A longer Python file holds two concerns."""
    lengths = {
        str(path): len((ROOT / path).read_text().splitlines())
        for path in tracked_files()
        if path.suffix == ".py" and not GENERATED.search(path.name)
    }

    assert lengths
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_file_or_folder_is_a_drawer() -> None:
    """Every module is named for its concern."""
    drawers = [
        str(path)
        for path in tracked_files()
        if path.suffix == ".py" and not DRAWERS.isdisjoint((*path.parts[:-1], path.stem))
    ]

    assert drawers == []


def test_readme_map_names_exactly_the_top_level_folders() -> None:
    """The README's map lists every top-level folder and no other."""
    readme = (ROOT / "README.md").read_text()
    section = readme.split("## Map", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"^\| `([a-z0-9_.]+)/` \|", section, re.MULTILINE))
    folders = {path.parts[0] for path in tracked_files() if len(path.parts) > 1}

    assert named == folders


def test_changelog_names_the_version() -> None:
    """The newest section of the changelog is that of the version in pyproject.toml."""
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    heading = re.search(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)

    assert version is not None
    assert heading is not None
    assert heading[1] in {version[1], "Unreleased"}


def test_decisions_have_numbers_of_their_own() -> None:
    """Each file bears the number in its first line, and no number is given twice."""
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [path.name[:4] for path in files]

    assert numbers == [f"{at:04}" for at in range(1, len(files) + 1)]
    for path in files:
        assert path.read_text().partition("\n")[0].startswith(f"# {path.name[:4]}: ")
