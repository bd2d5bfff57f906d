"""`justesse ingest`: takes files in."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.ingestion.background import HandedOver, draw_handed_over, hand_over
from justesse.cli.ingestion.metadata_pairs import MOMENTS, RULES, metadata_from_pairs, moment_in
from justesse.cli.ingestion.outcome_table import draw_outcomes
from justesse.cli.ingestion.progress import shown_progress
from justesse.cli.ingestion.run import SKIPPED, FileOutcome, Upload, ingest_files
from justesse.cli.ingestion.selection import STANDARD_INPUT, SelectedFile, selected_files
from justesse.cli.ingestion.target_workspace import prepare_workspace
from justesse.cli.options import AddressOption, JsonOption, UploadTimeoutOption, WorkspaceOption
from justesse.cli.output import remarks, show
from justesse.cli.program import program_name
from justesse.client import (
    AsyncJustesse,
    DocumentFacts,
    MetadataValue,
    WorkspaceSettings,
)

FACTS = "Facts about the documents (what is left out is read from each file)"


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files, folders with all in them (links to folders are not followed), patterns, "
            "or - for standard input.",
        ),
    ],
    workspace: WorkspaceOption,
    globs: Annotated[
        list[str] | None,
        typer.Option(
            "--glob",
            metavar="PATTERN",
            help="Of the files in folders only those that fit, such as '*.md'; may be repeated.",
        ),
    ] = None,
    background: Annotated[
        bool,
        typer.Option(
            "--background",
            help="Hand the files over as jobs and do not wait for what becomes of them.",
        ),
    ] = False,
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
    keep_previous: Annotated[
        bool,
        typer.Option(
            "--keep-previous",
            help="Keep what is replaced as ID@VERSION, superseded.",
            rich_help_panel=FACTS,
        ),
    ] = False,
    valid_from: Annotated[
        str,
        typer.Option(
            "--valid-from",
            metavar="MOMENT",
            help=f"When it begins to hold. {MOMENTS}",
            rich_help_panel=FACTS,
        ),
    ] = "",
    valid_until: Annotated[
        str,
        typer.Option(
            "--valid-until",
            metavar="MOMENT",
            help="First moment at which it holds no longer.",
            rich_help_panel=FACTS,
        ),
    ] = "",
    external_id: Annotated[
        str,
        typer.Option("--external-id", help="Id of a single file.", rich_help_panel=FACTS),
    ] = "",
    file_name: Annotated[
        str,
        typer.Option(
            "--file-name",
            help="Name of a single file, whose ending decides how it is read; standard input needs "
            "one.",
            rich_help_panel=FACTS,
        ),
    ] = "",
    id_prefix: Annotated[
        str,
        typer.Option(
            "--id-prefix",
            help="Put before the id of each file. The id is the path below the folder named, or "
            "the name of a file named itself: the same file named another way (by its subfolder, "
            "say) makes a second document, unless a prefix or --external-id keeps the ids equal.",
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
    check_standard_input(paths, file_name)
    files = selected_files(paths, file_name, globs or [])
    single = {
        "external_id": external_id,
        "title": title,
        "source_uri": source_uri,
        "file_name": file_name,
    }
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
        keep_previous=keep_previous,
    )
    if valid_from:
        facts["valid_from"] = moment_of(valid_from, "--valid-from")
    if valid_until:
        facts["valid_until"] = moment_of(valid_until, "--valid-until")
    uploads = uploads_of(files, facts, category_from_folder, external_id, id_prefix, file_name)
    target = gateway_address(address)
    creation = WorkspaceSettings(language) if create else None
    if background:
        _hand_over(target, workspace, uploads, creation, timeout, as_json)
        return
    outcomes = asyncio.run(_run(target, workspace, uploads, creation, timeout))
    show(outcomes, as_json, lambda console: draw_outcomes(console, outcomes))
    if any(outcome.outcome == SKIPPED for outcome in outcomes):
        raise typer.Exit(ExitCode.UNAVAILABLE)
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(ExitCode.SOME_FAILED)


def check_standard_input(paths: Sequence[str], file_name: str) -> None:
    """Raises CommandError where standard input has no name, or is named twice."""
    if STANDARD_INPUT in paths and not file_name:
        raise CommandError("standard input needs a name: --file-name notes.md", ExitCode.USAGE)
    if paths.count(STANDARD_INPUT) > 1:
        raise CommandError("standard input can be read only once", ExitCode.USAGE)


def moment_of(text: str, option: str) -> datetime:
    """Reads a moment; raises CommandError for another text."""
    moment = moment_in(text)
    if moment is None:
        raise CommandError(f"{option}: {text!r} is no moment. {MOMENTS}", ExitCode.USAGE)
    return moment


def uploads_of(
    files: Sequence[SelectedFile],
    facts: DocumentFacts,
    category_from_folder: bool,
    external_id: str = "",
    id_prefix: str = "",
    file_name: str = "",
) -> list[Upload]:
    """Says of each file what is said of all, under its own id; `external_id` is for one file."""
    uploads = []
    for file in files:
        own = facts.copy()
        own["external_id"] = external_id or id_prefix + file.external_id
        if category_from_folder:
            own["category"] = file.folder_name
        uploads.append(Upload(file, own, file_name))
    return uploads


def _hand_over(
    address: str,
    workspace: str,
    uploads: Sequence[Upload],
    creation: WorkspaceSettings | None,
    timeout: float | None,
    as_json: bool,
) -> None:
    async def run() -> HandedOver:
        async with AsyncJustesse(address) as justesse:
            await prepare_workspace(justesse, workspace, creation)
            return await hand_over(justesse, workspace, uploads, timeout=timeout)

    result = asyncio.run(run())
    show(result, as_json, lambda console: draw_handed_over(console, result, program_name()))
    if result.left_out:
        raise typer.Exit(ExitCode.SOME_FAILED)


async def _run(
    address: str,
    workspace: str,
    uploads: Sequence[Upload],
    creation: WorkspaceSettings | None,
    timeout: float | None,
) -> tuple[FileOutcome, ...]:
    async with AsyncJustesse(address) as justesse:
        await prepare_workspace(justesse, workspace, creation)
        with shown_progress(remarks(), len(uploads)) as report:
            return await ingest_files(justesse, workspace, uploads, timeout=timeout, report=report)


def _words(options: Sequence[str]) -> list[str]:
    return [word.strip() for option in options for word in option.split(",") if word.strip()]


def _typed_metadata(pairs: Sequence[str]) -> dict[str, MetadataValue]:
    try:
        return metadata_from_pairs(pairs)
    except ValueError as error:
        raise CommandError(f"--metadata: {error}", ExitCode.USAGE) from error
