"""`justesse ingest`: takes files in."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.command_line import CommandError
from justesse.cli.exit_codes import ExitCode
from justesse.cli.ingestion.metadata_pairs import RULES, metadata_from_pairs
from justesse.cli.ingestion.outcome_table import draw_outcomes
from justesse.cli.ingestion.progress import shown_progress
from justesse.cli.ingestion.run import FileOutcome, Upload, ingest_files
from justesse.cli.ingestion.selection import SelectedFile, selected_files
from justesse.cli.options import AddressOption, JsonOption, UploadTimeoutOption, WorkspaceOption
from justesse.cli.output import remarks, show
from justesse.client import (
    AsyncJustesse,
    DocumentFacts,
    MetadataValue,
    NotFoundError,
    WorkspaceSettings,
)

FACTS = "Facts about the documents (what is left out is read from each file)"


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders with all in them, or patterns."),
    ],
    workspace: WorkspaceOption,
    create: Annotated[
        bool, typer.Option("--create", help="Create the workspace if there is none.")
    ] = False,
    category: Annotated[
        str, typer.Option("--category", help="Subject area.", rich_help_panel=FACTS)
    ] = "",
    category_from_folder: Annotated[
        bool,
        typer.Option(
            "--category-from-folder",
            help="Take the name of each file's folder as its category.",
            rich_help_panel=FACTS,
        ),
    ] = False,
    language: Annotated[
        str,
        typer.Option(
            "--language",
            help="fr or en; with --create also that of the workspace.",
            rich_help_panel=FACTS,
        ),
    ] = "",
    keywords: Annotated[
        list[str] | None,
        typer.Option("--keywords", help="Words, separated by commas.", rich_help_panel=FACTS),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            metavar="NAME=VALUE",
            help=f"A typed fact; may be repeated. {RULES[0].upper()}{RULES[1:]}.",
            rich_help_panel=FACTS,
        ),
    ] = None,
    version: Annotated[
        str, typer.Option("--version", help="Version in your own words.", rich_help_panel=FACTS)
    ] = "",
    superseded: Annotated[
        bool,
        typer.Option("--superseded", help="A newer version replaces it.", rich_help_panel=FACTS),
    ] = False,
    external_id: Annotated[
        str,
        typer.Option("--external-id", help="Id of a single file.", rich_help_panel=FACTS),
    ] = "",
    id_prefix: Annotated[
        str,
        typer.Option(
            "--id-prefix",
            help="Put before the id of each file, which is its path below the folder named, or its "
            "name.",
            rich_help_panel=FACTS,
        ),
    ] = "",
    title: Annotated[
        str, typer.Option("--title", help="Title of a single file.", rich_help_panel=FACTS)
    ] = "",
    source_uri: Annotated[
        str,
        typer.Option("--source-uri", help="Where a single file comes from.", rich_help_panel=FACTS),
    ] = "",
    address: AddressOption = None,
    timeout: UploadTimeoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take files in; a file that fails does not stop the others (exit code 1)."""
    files = selected_files(paths)
    single = {"external_id": external_id, "title": title, "source_uri": source_uri}
    if any(single.values()) and len(files) != 1:
        options = ", ".join(
            f"--{name.replace('_', '-')}" for name, value in single.items() if value
        )
        raise CommandError(f"{options}: for a single file only, not {len(files)}", ExitCode.USAGE)
    facts = DocumentFacts(
        title=title,
        source_uri=source_uri,
        category=category,
        language=language,
        keywords=_words(keywords or []),
        metadata=_typed_metadata(metadata or []),
        version=version,
        superseded=superseded,
    )
    uploads = uploads_of(files, facts, category_from_folder, external_id, id_prefix)
    target = gateway_address(address)
    outcomes = asyncio.run(
        _run(target, workspace, uploads, WorkspaceSettings(language) if create else None, timeout)
    )
    show(outcomes, as_json, lambda console: draw_outcomes(console, outcomes))
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(ExitCode.SOME_FAILED)


def uploads_of(
    files: Sequence[SelectedFile],
    facts: DocumentFacts,
    category_from_folder: bool,
    external_id: str = "",
    id_prefix: str = "",
) -> list[Upload]:
    """Says of each file what is said of all, under its own id; `external_id` is for one file."""
    uploads = []
    for file in files:
        own = facts.copy()
        own["external_id"] = external_id or id_prefix + file.external_id
        if category_from_folder:
            own["category"] = file.folder_name
        uploads.append(Upload(file, own))
    return uploads


async def ensure_workspace(
    justesse: AsyncJustesse, workspace: str, settings: WorkspaceSettings
) -> None:
    """Creates the workspace if there is none of that name."""
    try:
        await justesse.describe_workspace(workspace)
    except NotFoundError:
        await justesse.create_workspace(workspace, settings)


async def _run(
    address: str,
    workspace: str,
    uploads: Sequence[Upload],
    creation: WorkspaceSettings | None,
    timeout: float | None,
) -> tuple[FileOutcome, ...]:
    async with AsyncJustesse(address) as justesse:
        # One clear error for a workspace that is not there, instead of one for each file.
        if creation is None:
            await justesse.describe_workspace(workspace)
        else:
            await ensure_workspace(justesse, workspace, creation)
        with shown_progress(remarks(), len(uploads)) as report:
            return await ingest_files(justesse, workspace, uploads, timeout=timeout, report=report)


def _words(options: Sequence[str]) -> list[str]:
    return [word.strip() for option in options for word in option.split(",") if word.strip()]


def _typed_metadata(pairs: Sequence[str]) -> dict[str, MetadataValue]:
    try:
        return metadata_from_pairs(pairs)
    except ValueError as error:
        raise CommandError(f"--metadata: {error}", ExitCode.USAGE) from error
