"""`justesse demo`: a mesh in a temporary folder, a knowledge base taken in, questions asked."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import ADDRESS_FILE_NAME
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.ingest import uploads_of
from justesse.cli.ingestion.outcome_table import draw_outcomes, outcome_sum
from justesse.cli.ingestion.progress import shown_progress
from justesse.cli.ingestion.run import FileOutcome, ingest_files
from justesse.cli.ingestion.selection import SelectedFile, selected_files
from justesse.cli.ingestion.target_workspace import ensure_workspace
from justesse.cli.local_mesh.announcements import Announcer
from justesse.cli.local_mesh.interruption import InterruptedWorkError
from justesse.cli.local_mesh.services import DATABASE_VARIABLES
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.cli.local_mesh.supervisor import StartFailedError
from justesse.cli.options import JsonOption
from justesse.cli.output import plain, print_json, remarks, results
from justesse.cli.program import program_name
from justesse.cli.search_tables import draw_search_result
from justesse.cli.system_errors import words_of
from justesse.cli.wording import counted
from justesse.client import AsyncJustesse, DocumentFacts, SearchResult, WorkspaceSettings

WORKSPACE = "demo"
HITS = 3
PROVIDERS_VARIABLE = "JUSTESSE_EMBEDDER_PROVIDERS"
SEARCH_TIMEOUT_S = 30.0
"""Longer than a caller would wait: the machine may be busy with the demonstration itself."""

NEXT_STEPS = """
The mesh is stopped and its data deleted. To go on with one that stays:

  {program} up          # in a terminal of its own, in this folder
  {program} ingest {documents} --workspace demo --create
  {program} search "..." --workspace demo
  {program} --help
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what was found."""

    question: str
    result: SearchResult


@dataclass(frozen=True, slots=True)
class DemonstrationResult:
    """What a demonstration showed."""

    files: tuple[FileOutcome, ...]
    answers: tuple[Answer, ...]


def demo(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder with documents/ and questions.txt, one question a line."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Start a mesh in a temporary folder, take documents in, ask questions, stop it."""
    files, questions = _contents_of(folder)
    with tempfile.TemporaryDirectory(prefix="justesse-demo-") as temporary:
        result = _demonstrate(Path(temporary), files, questions, as_json)
    if as_json:
        print_json(result)
    else:
        results().print(
            NEXT_STEPS.format(
                program=program_name(), documents=shlex.quote(str(folder / "documents"))
            ),
            soft_wrap=True,
        )
    if any(outcome.failed for outcome in result.files):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _contents_of(folder: Path) -> tuple[tuple[SelectedFile, ...], list[str]]:
    try:
        text = (folder / "questions.txt").read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"{folder / 'questions.txt'}: {words_of(error)}", ExitCode.USAGE
        ) from error
    questions = [line.strip() for line in text.splitlines() if line.strip()]
    documents = folder / "documents"
    if not documents.is_dir():
        raise CommandError(f"{documents} is no folder", ExitCode.USAGE)
    return selected_files([str(documents)]), questions


def demonstration_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a demonstration.

    It must not write into a database that the environment names, and sends its documents to no
    vendor because a key happens to be set; who wants that names the providers.
    """
    kept = {name: value for name, value in environment.items() if name not in DATABASE_VARIABLES}
    return {PROVIDERS_VARIABLE: "embedded"} | kept


def _demonstrate(
    temporary: Path, files: Sequence[SelectedFile], questions: Sequence[str], as_json: bool
) -> DemonstrationResult:
    plan = MeshPlan(
        data_folder=temporary,
        log_folder=temporary / "logs",
        address_file=temporary / ADDRESS_FILE_NAME,
        environment=demonstration_environment(os.environ),
        free_ports=True,
    )
    console = remarks() if as_json else results()
    console.print("Starting a mesh on free ports, in a temporary folder", style="bold")
    with Announcer(console) as announcer:
        try:
            return run_mesh(
                plan,
                lambda addresses: demonstrate(console, addresses.address, files, questions),
                announcer.report,
                announcer.interrupted,
            )
        except InterruptedWorkError:
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except StartFailedError as error:
            announcer.start_failed(error)
            raise CommandError(str(error)) from error


async def demonstrate(
    console: Console,
    address: str,
    files: Sequence[SelectedFile],
    questions: Sequence[str],
) -> DemonstrationResult:
    """Takes the documents in and asks the questions."""
    async with AsyncJustesse(address) as justesse:
        console.print()
        console.print(f"Taking in {counted(len(files), 'document')}", style="bold")
        await ensure_workspace(justesse, WORKSPACE, WorkspaceSettings(language="fr"))
        uploads = uploads_of(files, DocumentFacts(), category_from_folder=True)
        with shown_progress(console, len(uploads)) as report:
            outcomes = await ingest_files(justesse, WORKSPACE, uploads, timeout=None, report=report)
        failures = [outcome for outcome in outcomes if outcome.failed]
        if failures:
            draw_outcomes(console, failures)
        console.print(outcome_sum(outcomes))
        answers = []
        for position, question in enumerate(questions, start=1):
            console.print()
            console.rule(style="dim")
            console.print(plain(f"{position}. {question}", "bold"))
            console.print()
            result = await justesse.search(
                WORKSPACE, question, limit=HITS, timeout=SEARCH_TIMEOUT_S
            )
            draw_search_result(console, result)
            answers.append(Answer(question, result))
    console.print()
    return DemonstrationResult(outcomes, tuple(answers))
