"""`justesse workspaces export` and `import`: workspaces as files."""

import os
from pathlib import Path
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.options import AddressOption, JsonOption
from justesse.cli.output import plain, show
from justesse.cli.wording import counted
from justesse.client import Justesse

_UNFINISHED = ".part"


def export(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Workspace to export.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file where there is one.")
    ] = False,
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a workspace into a file: documents, vectors, glossary, overrides of switches."""
    if file.exists() and not force:
        raise CommandError(f"{file} is there already; name another, or say --force", ExitCode.USAGE)
    unfinished = file.with_name(file.name + _UNFINISHED)
    try:
        with Justesse(gateway_address(address)) as justesse, unfinished.open("wb") as writing:
            for part in justesse.export_workspace(slug):
                writing.write(part)
            writing.flush()
            os.fsync(writing.fileno())
        size = unfinished.stat().st_size
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    show(
        {"workspace": slug, "file": str(file), "byte_count": size},
        as_json,
        lambda console: console.print(plain(f"Wrote workspace {slug} into {file}: {size} bytes.")),
    )


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File that an export wrote.")],
    slug: Annotated[
        str, typer.Option("--as", metavar="SLUG", help="Workspace to make, which is not there yet.")
    ],
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new workspace of an exported file: whole, or not at all."""
    with Justesse(gateway_address(address)) as justesse, file.open("rb") as archive:
        imported = justesse.import_workspace(slug, archive)
    text = (
        f"Made workspace {slug} with {counted(imported.document_count, 'document')} "
        f"({counted(imported.passage_count, 'passage')}, "
        f"{counted(imported.vector_count, 'vector')}, "
        f"{counted(imported.glossary_entry_count, 'glossary entry', 'glossary entries')}, "
        f"{counted(imported.switch_override_count, 'switch', 'switches')} of its own)."
    )
    show(imported, as_json, lambda console: console.print(plain(text)))
