"""Takes a folder of documents in, as `justesse ingest` does."""

from pathlib import Path

from rich.console import Console

from justesse.cli.failures import CommandError
from justesse.cli.ingest import uploads_of
from justesse.cli.ingestion.outcome_table import draw_outcomes, outcome_sum
from justesse.cli.ingestion.progress import shown_progress
from justesse.cli.ingestion.run import ingest_files
from justesse.cli.ingestion.selection import selected_files
from justesse.cli.ingestion.target_workspace import ensure_workspace
from justesse.client import AsyncJustesse, DocumentFacts, WorkspaceSettings


async def store_files(
    console: Console,
    justesse: AsyncJustesse,
    workspace: str,
    folder: Path,
    settings: WorkspaceSettings,
) -> None:
    """Stores what the folder holds; raises CommandError if a file cannot be taken in."""
    await ensure_workspace(justesse, workspace, settings)
    uploads = uploads_of(selected_files([str(folder)]), DocumentFacts(), category_from_folder=True)
    with shown_progress(console, len(uploads)) as report:
        outcomes = await ingest_files(justesse, workspace, uploads, timeout=None, report=report)
    console.print(outcome_sum(outcomes))
    failures = [outcome for outcome in outcomes if outcome.failed]
    if failures:
        draw_outcomes(console, failures)
        raise CommandError(f"{len(failures)} of {len(outcomes)} documents were not taken in")
