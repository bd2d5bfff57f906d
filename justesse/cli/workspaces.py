"""`justesse workspaces`: creates, lists, describes, changes, deletes and copies workspaces."""

import sys
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli import archives
from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.fusion_options import (
    DenseWeightOption,
    LexicalWeightOption,
    RankConstantOption,
    SpaceWeightOption,
    fusion_in_words,
    fusion_of,
)
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption
from justesse.cli.output import plain, show
from justesse.cli.tables import facts, fitting, moment, new_table
from justesse.cli.wording import counted, purging, waiting
from justesse.client import DenseIndexKind, Fusion, Justesse, Space, Workspace, WorkspaceSettings

app = typer.Typer(
    help="Create, list, describe, change, delete and copy workspaces.", no_args_is_help=False
)

app.command("export")(archives.export)
app.command("import")(archives.import_file)

SlugArgument = Annotated[
    str, typer.Argument(metavar="SLUG", help="Lower-case letters, digits and hyphens.")
]


class OfferedIndexKind(StrEnum):
    """Kinds of dense index that can be asked for."""

    AUTO = "auto"
    FLAT = "flat"
    HNSW = "hnsw"


@app.command()
def create(
    slug: SlugArgument,
    language: Annotated[
        str, typer.Option("--language", help="fr, en, or auto for both; fr by default.")
    ] = "",
    chunking_profile: Annotated[
        str,
        typer.Option(
            "--chunking-profile", help="structure, sentences or words; structure by default."
        ),
    ] = "",
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            help="Named retrieval settings: default. The service knows commerce, words, sentences "
            "and tutorial by name, and refuses what it cannot apply.",
        ),
    ] = "",
    dense_index: Annotated[
        OfferedIndexKind,
        typer.Option(
            "--dense-index",
            help="auto is exact while small, a graph when large; flat is always exact; hnsw is a "
            "graph as soon as enough vectors have gathered to build one.",
        ),
    ] = OfferedIndexKind.AUTO,
    child_tokens: Annotated[
        int,
        typer.Option(
            "--child-tokens",
            help="Search parts of so many tokens (32 to 400) of what the profile cuts, which "
            "searches can ask for as the parents of their hits; 0 searches it whole.",
        ),
    ] = 0,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Create a workspace."""
    kind = DenseIndexKind(dense_index.value)
    settings = WorkspaceSettings(
        language, chunking_profile, preset, kind, child_token_count=child_tokens
    )
    with Justesse(gateway_address(address)) as justesse:
        workspace = justesse.create_workspace(slug, settings, timeout=timeout)
    show(
        workspace,
        as_json,
        lambda console: console.print(
            plain(f"Created workspace {workspace.slug} ({workspace.settings.language or 'fr'}).")
        ),
    )


@app.command("list")
def list_all(
    address: AddressOption = None, timeout: TimeoutOption = 30.0, as_json: JsonOption = False
) -> None:
    """List all workspaces."""
    with Justesse(gateway_address(address)) as justesse:
        workspaces = justesse.list_workspaces(timeout=timeout)
    show(workspaces, as_json, lambda console: _draw_list(console, workspaces))


@app.command()
def describe(
    slug: SlugArgument,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Describe a workspace with its vector spaces."""
    with Justesse(gateway_address(address)) as justesse:
        workspace = justesse.describe_workspace(slug, timeout=timeout)
    show(workspace, as_json, lambda console: _draw(console, workspace))


@app.command()
def update(
    slug: SlugArgument,
    rank_constant: RankConstantOption = None,
    lexical_weight: LexicalWeightOption = None,
    dense_weight: DenseWeightOption = None,
    space_weights: SpaceWeightOption = None,
    reset_fusion: Annotated[
        bool,
        typer.Option("--reset-fusion", help="Take all fusion settings to their defaults first."),
    ] = False,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Change how the lists of a workspace's searches are fused; the rest stays as it is."""
    fusion = fusion_of(rank_constant, lexical_weight, dense_weight, space_weights)
    if fusion == Fusion() and not reset_fusion:
        raise CommandError("nothing to change; name a setting (see --help)", ExitCode.USAGE)
    with Justesse(gateway_address(address)) as justesse:
        workspace = justesse.update_workspace(
            slug, fusion=fusion, reset_fusion=reset_fusion, timeout=timeout
        )
    text = f"Workspace {workspace.slug} fuses with {fusion_in_words(workspace.settings.fusion)}."
    show(workspace, as_json, lambda console: console.print(plain(text)))


@app.command()
def delete(
    slug: SlugArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Delete a workspace with all its documents."""
    with Justesse(gateway_address(address)) as justesse:
        if not yes:
            _confirm(justesse.describe_workspace(slug, timeout=timeout))
        deleted = justesse.delete_workspace(slug, timeout=timeout)
    text = (
        f"Deleted workspace {slug} with {counted(deleted.document_count, 'document')} "
        f"({counted(deleted.passage_count, 'passage')}, "
        f"{counted(deleted.original_count, 'kept file')}){purging(deleted.purge_within_s)}."
    )
    if deleted.original_failure:
        text += f" Kept files may still be there: {deleted.original_failure}"
    show(deleted, as_json, lambda console: console.print(plain(text)))


def _confirm(workspace: Workspace) -> None:
    if not sys.stdin.isatty():
        raise CommandError(
            "deleting a workspace cannot be undone; say --yes to do it without being asked",
            ExitCode.USAGE,
        )
    question = (
        f"Delete workspace {workspace.slug} with {counted(workspace.document_count, 'document')} "
        "for good?"
    )
    if not typer.confirm(question, err=True):
        raise CommandError("nothing was deleted", ExitCode.SOME_FAILED)


def _draw_list(console: Console, workspaces: tuple[Workspace, ...]) -> None:
    if not workspaces:
        console.print("There is no workspace yet; 'justesse workspaces create SLUG' makes one.")
        return
    table = new_table()
    table.add_column("Workspace", overflow="fold")
    table.add_column("Language")
    for name in ("Documents", "Passages", "Spaces"):
        table.add_column(name, justify="right")
    table.add_column("Created", no_wrap=True)
    for workspace in workspaces:
        table.add_row(
            plain(workspace.slug),
            plain(workspace.settings.language or "fr"),
            str(workspace.document_count),
            str(workspace.passage_count),
            str(len(workspace.spaces)),
            moment(workspace.create_time),
        )
    console.print(fitting(console, table))


def _draw(console: Console, workspace: Workspace) -> None:
    settings = workspace.settings
    console.print(
        facts(
            (
                ("Workspace", workspace.slug),
                ("Language", settings.language or "fr"),
                ("Chunking", _cutting_of(settings)),
                ("Preset", settings.preset or "default"),
                ("Dense index", f"{settings.dense_index_kind.value} (asked for)"),
                ("Fusion", fusion_in_words(settings.fusion)),
                ("Documents", str(workspace.document_count)),
                ("Passages", str(workspace.passage_count)),
                ("Created", moment(workspace.create_time)),
            )
        )
    )
    if workspace.spaces:
        console.print()
        _draw_spaces(console, workspace)
    awaiting = _awaiting(workspace)
    if awaiting:
        console.print()
        console.print(
            f"{waiting(awaiting)} in the preferred space, and found by words or in another space "
            "meanwhile; they are moved there while its provider answers (status says whether) and "
            "takes them",
            style="yellow",
        )


def _cutting_of(settings: WorkspaceSettings) -> str:
    profile = settings.chunking_profile or "structure"
    count = settings.child_token_count
    return f"{profile}, searched by parts of {count} tokens" if count else profile


def _draw_spaces(console: Console, workspace: Workspace) -> None:
    table = new_table()
    table.add_column("Space", overflow="fold")
    table.add_column("Passages", justify="right")
    table.add_column("Index now")
    table.add_column("Use")
    for space in workspace.spaces:
        table.add_row(
            plain(space.space_id),
            f"{space.passage_count} of {workspace.passage_count}",
            space.active_index_kind.value,
            _use(space, workspace),
        )
    console.print(fitting(console, table))
    asked = workspace.settings.dense_index_kind
    if asked is DenseIndexKind.HNSW and any(
        space.active_index_kind is not DenseIndexKind.HNSW for space in workspace.spaces
    ):
        console.print()
        console.print(
            "hnsw was asked for: a graph is built once enough vectors have gathered for one; until "
            "then they are searched exactly (flat).",
            style="dim",
        )


def _use(space: Space, workspace: Workspace) -> str:
    if space.space_id == workspace.preferred_space_id:
        return "preferred"
    return "resting" if space.resting else "searched"


def _awaiting(workspace: Workspace) -> int:
    """Counts the passages without a vector in the preferred space; all where there is none yet."""
    held = (
        space.passage_count
        for space in workspace.spaces
        if space.space_id == workspace.preferred_space_id
    )
    return workspace.passage_count - next(held, 0)
