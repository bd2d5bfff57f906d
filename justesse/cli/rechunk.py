"""`justesse rechunk`: cuts documents anew from their kept files."""

from collections.abc import Iterable
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import error_line
from justesse.cli.ingestion.outcome_table import draw_outcomes
from justesse.cli.ingestion.progress import shown_progress
from justesse.cli.ingestion.run import FAILED, FileOutcome
from justesse.cli.options import AddressOption, JsonOption, UploadTimeoutOption, WorkspaceOption
from justesse.cli.output import remarks, show
from justesse.client import Justesse, JustesseError, UnavailableError


def rechunk(
    workspace: WorkspaceOption,
    external_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXTERNAL_ID...", help="Ids of the documents; all by default."),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="structure, sentences or words: set it for the workspace first.",
        ),
    ] = "",
    child_tokens: Annotated[
        int | None,
        typer.Option(
            "--child-tokens",
            help="Tokens of the parts that are searched, 32 to 400, or 0 for none: set it for the "
            "workspace first.",
        ),
    ] = None,
    address: AddressOption = None,
    timeout: UploadTimeoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cut documents anew from their kept files, one at a time, without sending them again.

    Each is searchable as before until its new passages take over. Documents that need no other
    passages stay as they are, so a run that broke off is simply repeated.
    """
    with Justesse(gateway_address(address)) as justesse:
        if profile or child_tokens is not None:
            justesse.update_workspace(
                workspace, chunking_profile=profile or None, child_token_count=child_tokens
            )
        ids = external_ids or [one.external_id for one in justesse.iterate_documents(workspace)]
        outcomes = _rechunked(justesse, workspace, ids, timeout)
    show(outcomes, as_json, lambda console: draw_outcomes(console, outcomes))
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _rechunked(
    justesse: Justesse, workspace: str, ids: Iterable[str], timeout: float | None
) -> list[FileOutcome]:
    """Returns the outcome of each document; a lost mesh ends the run, as it is raised."""
    wanted = list(ids)
    outcomes = []
    with shown_progress(remarks(), len(wanted)) as report:
        for external_id in wanted:
            try:
                result = justesse.rechunk_document(workspace, external_id, timeout=timeout)
            except UnavailableError:
                raise
            except JustesseError as error:
                outcome = FileOutcome(
                    "", external_id, FAILED, reason=error.reason, message=error_line(error)
                )
            else:
                outcome = FileOutcome(
                    "",
                    external_id,
                    str(result.outcome),
                    result.passage_count,
                    result.awaiting_passage_count,
                    result.warnings,
                )
            outcomes.append(outcome)
            report(outcome)
    return outcomes
