"""`justesse documents`: lists, shows and deletes documents."""

from itertools import islice
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import plain, show
from justesse.cli.tables import facts, moment, new_table
from justesse.client import Document, DocumentWithPassages, Justesse

app = typer.Typer(help="List, show and delete documents.")

IdArgument = Annotated[
    str, typer.Argument(metavar="EXTERNAL_ID", help="Id of the document in the workspace.")
]


@app.command("list")
def list_all(
    workspace: WorkspaceOption,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Documents wanted; all by default.")
    ] = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """List the documents of a workspace by their ids."""
    with Justesse(gateway_address(address)) as justesse:
        pages = justesse.iterate_documents(workspace, page_size=500, timeout=timeout)
        documents = list(islice(pages, limit))
    show(documents, as_json, lambda console: _draw_list(console, documents, workspace))


@app.command("show")
def show_one(
    external_id: IdArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Show a document with its passages."""
    with Justesse(gateway_address(address)) as justesse:
        found = justesse.get_document(workspace, external_id, timeout=timeout)
    show(found, as_json, lambda console: _draw(console, found))


@app.command()
def delete(
    external_ids: Annotated[
        list[str], typer.Argument(metavar="EXTERNAL_ID...", help="Ids of the documents.")
    ],
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Delete documents; one that does not exist is reported, and the others are deleted."""
    with Justesse(gateway_address(address)) as justesse:
        deletions = {
            external_id: justesse.delete_document(workspace, external_id, timeout=timeout)
            for external_id in external_ids
        }

    def draw(console: Console) -> None:
        for external_id, deletion in deletions.items():
            outcome = f"deleted, {deletion.passage_count} passages"
            console.print(plain(f"{external_id}: {outcome if deletion.deleted else 'not there'}"))

    show(deletions, as_json, draw)
    if not all(deletion.deleted for deletion in deletions.values()):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _draw_list(console: Console, documents: list[Document], workspace: str) -> None:
    if not documents:
        console.print(plain(f"The workspace {workspace} holds no documents."))
        return
    table = new_table()
    table.add_column("Document", overflow="fold", ratio=3)
    table.add_column("Title", ratio=4)
    table.add_column("Category", overflow="fold")
    table.add_column("Passages", justify="right")
    table.add_column("Stored", no_wrap=True)
    for document in documents:
        title = plain(document.title)
        if document.superseded:
            title.append(" superseded", style="bold yellow")
        table.add_row(
            plain(document.external_id),
            title,
            plain(document.category),
            str(document.passage_count),
            moment(document.update_time)[:10],
        )
    console.print(table)


def _draw(console: Console, found: DocumentWithPassages) -> None:
    document = found.document
    version = f"{document.version} (superseded)" if document.superseded else document.version
    console.print(
        facts(
            (
                ("Document", document.external_id),
                ("Title", document.title),
                ("Category", document.category),
                ("Language", document.language),
                ("Keywords", ", ".join(document.keywords)),
                ("Version", version.strip()),
                ("Source", document.source_uri),
                ("Valid from", moment(document.valid_from) if document.valid_from else ""),
                ("Valid until", moment(document.valid_until) if document.valid_until else ""),
                ("Chunking", document.chunking_profile),
                ("Stored", moment(document.update_time)),
                *((f"  {name}", str(value)) for name, value in document.metadata.items()),
            )
        )
    )
    for passage in found.passages:
        waiting = "" if passage.space_ids else " · waits to be embedded"
        place = " · ".join(part for part in (passage.location, *passage.heading_path) if part)
        console.print()
        console.print(plain(f"[{passage.chunk_index}] {place}{waiting}", "bold"))
        for line in passage.text.splitlines():
            console.print(plain(line))
