"""`justesse glossary`: what colleagues say, and what the documents of a workspace say instead."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.glossary_file import read_glossary, written_glossary
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.tables import fitting, new_table
from justesse.cli.wording import counted
from justesse.client import GlossaryChange, GlossaryEntry, Justesse

app = typer.Typer(
    help="List, add, remove, import and export the glossary of a workspace: terms that colleagues "
    "use, and what the documents say instead."
)

SlugArgument = Annotated[str, typer.Argument(metavar="SLUG", help="Workspace to work in.")]


@app.command("list")
def list_all(
    slug: SlugArgument,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """List all entries by term."""
    entries = _entries(slug, address, timeout)
    show(entries, as_json, lambda console: _draw(console, entries, slug))


@app.command()
def add(
    slug: SlugArgument,
    term: Annotated[str, typer.Argument(metavar="TERM", help="Term as colleagues write it.")],
    synonyms: Annotated[
        list[str],
        typer.Argument(metavar="SYNONYM...", help="Words that documents use for it, best first."),
    ],
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Add an entry, or replace the one of that term; searches use it at once."""
    with Justesse(gateway_address(address)) as justesse:
        change = justesse.put_glossary_entries(
            slug, [GlossaryEntry(term, synonyms)], timeout=timeout
        )
    show(change, as_json, lambda console: console.print(plain(_in_words(slug, change))))


@app.command()
def remove(
    slug: SlugArgument,
    terms: Annotated[
        list[str], typer.Argument(metavar="TERM...", help="Terms of the entries to delete.")
    ],
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Delete entries; exit code 1 if one of them was not there."""
    with Justesse(gateway_address(address)) as justesse:
        deletion = justesse.delete_glossary_entries(slug, terms, timeout=timeout)
    text = f"Deleted {counted(deletion.deleted_count, 'entry', 'entries')} of {slug}."
    if deletion.missing_terms:
        text += f" Not there: {', '.join(deletion.missing_terms)}."
    show(deletion, as_json, lambda console: console.print(plain(text)))
    if deletion.missing_terms:
        raise typer.Exit(ExitCode.SOME_FAILED)


@app.command("import")
def import_file(
    slug: SlugArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv",
            help="Heading term,synonym; then a term and its synonyms in each row. UTF-8, parted by "
            "commas or semicolons.",
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete every entry that is not in the file.")
    ] = False,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Add the entries of a file, all or none."""
    entries = read_glossary(file)
    with Justesse(gateway_address(address)) as justesse:
        change = justesse.put_glossary_entries(slug, entries, replace_all=replace, timeout=timeout)
    show(change, as_json, lambda console: console.print(plain(_in_words(slug, change))))


@app.command()
def export(
    slug: SlugArgument,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Write all entries to standard output, as CSV that import reads."""
    entries = _entries(slug, address, timeout)
    show(entries, as_json, lambda _: _write(written_glossary(entries)))


def _entries(slug: str, address: str | None, timeout: float) -> list[GlossaryEntry]:
    with Justesse(gateway_address(address)) as justesse:
        return list(justesse.iterate_glossary_entries(slug, timeout=timeout))


def _write(text: str) -> None:
    sys.stdout.write(text)


def _in_words(slug: str, change: GlossaryChange) -> str:
    done = [
        f"{count} {word}"
        for count, word in (
            (change.created_count, "added"),
            (change.updated_count, "replaced"),
            (change.deleted_count, "deleted"),
        )
        if count
    ]
    there = counted(change.entry_count, "entry", "entries")
    return f"The glossary of {slug} holds {there}: {', '.join(done) or 'nothing changed'}."


def _draw(console: Console, entries: list[GlossaryEntry], slug: str) -> None:
    if not entries:
        console.print(
            plain(f"The glossary of {slug} is empty; 'justesse glossary add' begins one.")
        )
        return
    table = new_table()
    table.add_column("Term", overflow="fold")
    table.add_column("The documents say", overflow="fold")
    for entry in entries:
        table.add_row(plain(entry.term), plain(", ".join(entry.synonyms)))
    console.print(fitting(console, table))
