"""`justesse documents`: lists, shows and deletes documents."""

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import plain, show
from justesse.cli.tables import facts, fitting, moment, new_table
from justesse.cli.wording import counted, purging, waiting
from justesse.client import Document, DocumentWithPassages, Justesse, MetadataValue, Passage

app = typer.Typer(help="List, show and delete documents.")

_COMPLETION = "vectors come once an embedding provider answers (justesse status)"

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
    workspace: WorkspaceOption,
    external_ids: Annotated[
        list[str] | None, typer.Argument(metavar="EXTERNAL_ID...", help="Ids of the documents.")
    ] = None,
    source_uri: Annotated[
        str, typer.Option("--source-uri", help="Delete all documents that come from there.")
    ] = "",
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Delete documents; one that does not exist is reported, and the others are deleted."""
    if bool(external_ids) == bool(source_uri):
        raise CommandError("name documents, or a source with --source-uri", ExitCode.USAGE)
    if source_uri:
        _delete_source(workspace, source_uri, gateway_address(address), timeout, as_json)
        return
    with Justesse(gateway_address(address)) as justesse:
        deletions = {
            external_id: justesse.delete_document(workspace, external_id, timeout=timeout)
            for external_id in external_ids or ()
        }

    def draw(console: Console) -> None:
        for external_id, deletion in deletions.items():
            outcome = "there is no such document"
            if deletion.deleted:
                outcome = f"deleted, {counted(deletion.passage_count, 'passage')}"
                if deletion.original_count:
                    outcome += f" and {counted(deletion.original_count, 'kept file')}"
                outcome += purging(deletion.purge_within_s)
            if deletion.original_failure:
                outcome += f"; kept files may still be there: {deletion.original_failure}"
            console.print(plain(f"{external_id}: {outcome}"), soft_wrap=True)

    show(deletions, as_json, draw)
    if not all(deletion.deleted for deletion in deletions.values()):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _delete_source(
    workspace: str, source_uri: str, address: str, timeout: float, as_json: bool
) -> None:
    with Justesse(address) as justesse:
        deletion = justesse.delete_source(workspace, source_uri, timeout=timeout)

    def draw(console: Console) -> None:
        deleted = counted(len(deletion.external_ids), "document")
        passages = counted(deletion.passage_count, "passage")
        purged = purging(deletion.purge_within_s) if deletion.external_ids else ""
        console.print(plain(f"{source_uri}: {deleted} deleted, {passages}{purged}"), soft_wrap=True)
        for external_id, failure in deletion.original_failures.items():
            remark = f"{external_id}: kept files may still be there: {failure}"
            console.print(plain(remark), soft_wrap=True)

    show(deletion, as_json, draw)
    if not deletion.external_ids:
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
    awaiting = sum(document.awaiting_passage_count for document in documents)
    if awaiting:
        table.add_column("Waiting", justify="right")
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
            *([Text(str(document.awaiting_passage_count or "-"), "yellow")] if awaiting else []),
            moment(document.update_time)[:10],
        )
    console.print(fitting(console, table))
    if awaiting:
        console.print()
        console.print(f"{waiting(awaiting)}; {_COMPLETION}", style="yellow")


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
                *((f"  {name}", json_text(value)) for name, value in document.metadata.items()),
            )
        )
    )
    awaiting = sum(not passage.space_ids for passage in found.passages)
    if awaiting:
        console.print()
        console.print(f"{waiting(awaiting)}; {_COMPLETION}", style="yellow")
    for passage in found.passages:
        place = " · ".join(
            part for part in (passage.location, *passage.heading_path, *_flags_of(passage)) if part
        )
        console.print()
        console.print(plain(f"[{passage.chunk_index}] {place}", "bold"))
        for line in passage.text.splitlines():
            console.print(plain(line))


def _flags_of(passage: Passage) -> Iterator[str]:
    if not passage.space_ids:
        yield "waits to be embedded"
    if passage.sliced_space_ids:
        yield "longer than the model's input, embedded in slices"
    if passage.cuts_token:
        yield "cuts a word too long for a passage"


def json_text(value: MetadataValue) -> str:
    """Writes a fact as JSON has it; a whole number without decimals."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, default=datetime.isoformat)
