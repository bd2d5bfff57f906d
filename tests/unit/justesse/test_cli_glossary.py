"""Glossaries from the command line and both clients, against a gateway in memory."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justesse.cli.glossary_file import read_glossary, written_glossary
from justesse.client import AsyncJustesse, GlossaryEntry, Justesse
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway

FILE = "term;synonym;synonym\nBL;bon de livraison;bordereau\nDEB;déclaration;\n\n"


def test_entries_are_added_listed_and_removed(line: CommandLine) -> None:
    """Each command says what it did."""
    added = line.run("glossary", "add", "demo", "BL", "bon de livraison", "bordereau").stdout
    again = line.run("glossary", "add", "demo", "BL", "connaissement").stdout
    listed = line.run("glossary", "list", "demo").stdout
    removed = line.run("glossary", "remove", "demo", "BL", "TVA", code=1).stdout
    empty = line.run("glossary", "list", "demo").stdout

    assert added == "The glossary of demo holds 1 entry: 1 added.\n"
    assert again == "The glossary of demo holds 1 entry: 1 replaced.\n"
    assert "BL" in listed
    assert "connaissement" in listed
    assert removed == "Deleted 1 entry of demo. Not there: TVA.\n"
    assert "empty" in empty


def test_a_file_is_imported_and_exported(line: CommandLine, tmp_path: Path) -> None:
    """What is exported can be imported again; --replace leaves nothing else."""
    file = tmp_path / "glossaire.csv"
    file.write_text(FILE, "utf-8-sig")
    line.run("glossary", "add", "demo", "SKU", "article")
    imported = line.json("glossary", "import", "demo", str(file))
    exported = line.run("glossary", "export", "demo").stdout
    file.write_text("term,synonym\nTVA,taxe\n")
    replaced = line.run("glossary", "import", "demo", str(file), "--replace").stdout

    assert (imported["created_count"], imported["entry_count"]) == (2, 3)
    assert exported == "term,synonym\nBL,bon de livraison,bordereau\nDEB,déclaration\nSKU,article\n"
    assert replaced == "The glossary of demo holds 1 entry: 1 added, 3 deleted.\n"
    assert line.json("glossary", "list", "demo") == [{"term": "TVA", "synonyms": ["taxe"]}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"BL,bordereau\n", "does not begin with the heading 'term,synonym'"),
        (b"", "does not begin with the heading"),
        (b"term,synonym\nBL,\n", "row 2 holds no synonym"),
        (b"term,synonym\n,bordereau\n", "row 2 holds no term"),
        (b'term,synonym\n"BL,b\n', "line 2: unexpected end of data"),
        ("term,synonym\nété,saison\n".encode("latin-1"), "is not UTF-8; save it as 'CSV UTF-8'"),
    ],
)
def test_a_file_that_is_no_glossary_is_refused_whole(
    line: CommandLine, tmp_path: Path, content: bytes, message: str
) -> None:
    """The message names the file and the row; no entry of it is sent."""
    file = tmp_path / "g.csv"
    file.write_bytes(content)

    error = line.error("glossary", "import", "demo", str(file), code=2)

    assert str(file) in error
    assert message in error
    assert line.state.glossary == {}


def test_a_missing_file_and_a_refused_entry_are_told(line: CommandLine, tmp_path: Path) -> None:
    """The system's words, and the gateway's."""
    missing = line.error("glossary", "import", "demo", str(tmp_path / "none.csv"), code=7)
    unknown = line.error("glossary", "list", "other", code=3)

    assert "there is no such file" in missing
    assert "no workspace" in unknown


@given(
    st.lists(
        st.builds(
            GlossaryEntry,
            st.text("aé ,;\"'\t", min_size=1).map(lambda text: f"x{text}x"),
            st.lists(st.text("bœ ,;\"'", min_size=1).map(lambda text: f"y{text}y"), min_size=1),
        )
    )
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_every_glossary_comes_back_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, entries: list[GlossaryEntry]
) -> None:
    """Whatever commas, quotes and semicolons its words hold."""
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_text(written_glossary(entries), "utf-8")

    assert read_glossary(file) == entries


def test_the_client_walks_through_all_pages(line: CommandLine) -> None:
    """An entry on each page comes once, in order."""
    entries = [GlossaryEntry(f"t{number}", ("mot",)) for number in range(5)]
    with Justesse(line.address) as justesse:
        change = justesse.put_glossary_entries("demo", reversed(entries))
        first = justesse.list_glossary_entries("demo", page_size=2)
        walked = list(justesse.iterate_glossary_entries("demo", page_size=2))

    assert (change.created_count, change.entry_count, change.version) == (5, 5, 1)
    assert first.entries == tuple(entries[:2])
    assert (first.next_page_token, first.entry_count) == ("t1", 5)
    assert walked == entries


async def test_the_asyncio_client_does_the_same() -> None:
    """Put, walk, delete."""
    entries = [GlossaryEntry(f"t{number}", ("mot",)) for number in range(3)]
    async with (
        fake_gateway(GatewayState(workspaces={"demo": {}})) as address,
        AsyncJustesse(address) as justesse,
    ):
        await justesse.put_glossary_entries("demo", entries)
        walked = [entry async for entry in justesse.iterate_glossary_entries("demo", page_size=2)]
        deleted = await justesse.delete_glossary_entries("demo", ["t0", "t9"])

    assert walked == entries
    assert (deleted.deleted_count, deleted.missing_terms, deleted.version) == (1, ("t9",), 2)
