"""`justesse eval run`: asks a mesh the questions of a set and reports what it found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.evaluation.demands import check_demands, demands_of
from justesse.cli.evaluation.extras import require_installed
from justesse.cli.evaluation.files import store_files
from justesse.cli.evaluation.meshes import with_own_mesh, with_running_mesh
from justesse.cli.evaluation.progress import shown_part
from justesse.cli.evaluation.switch_settings import switches_set
from justesse.cli.evaluation.tables import draw_result
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.options import AddressOption, JsonOption
from justesse.cli.output import print_json, remarks, results
from justesse.client import AsyncJustesse, WorkspaceSettings
from justesse.evaluation.answers import Answer
from justesse.evaluation.asking import ask
from justesse.evaluation.configurations import CURRENT, LADDER, Configuration, configuration_named
from justesse.evaluation.formats.sets import read_set
from justesse.evaluation.judged_set import JudgedSet
from justesse.evaluation.results import RunResult, run_result
from justesse.evaluation.run_folder import RunFolder, fingerprint
from justesse.evaluation.storing import store_documents

WORKSPACE = "evaluation"
SEED = 20260101


def run(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="SET",
            help="Folder in the BEIR layout, or a CSV or JSONL file of questions with the ids of "
            "the documents that answer them.",
        ),
    ],
    qrels: Annotated[
        Path | None,
        typer.Option("--qrels", metavar="FILE", help="Labels of their own: BEIR's TSV, or TREC."),
    ] = None,
    configurations: Annotated[
        list[str] | None,
        typer.Option(
            "--configuration",
            "-c",
            metavar="FEATURES",
            help="dense, or some of rewriting, hybrid, reranking joined by +, or current; may be "
            f"repeated, the first is the baseline. By default: {', '.join(LADDER)}; on a running "
            "mesh current.",
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace", "-w", metavar="SLUG", help="Workspace that holds the documents already."
        ),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            "--files",
            metavar="FOLDER",
            help="Folder of documents to take in; a document's id is its path below the folder.",
        ),
    ] = None,
    running: Annotated[
        bool,
        typer.Option(
            "--running",
            help="Measure a mesh that runs already, instead of one of the run's own; --workspace "
            "means that too.",
        ),
    ] = False,
    address: AddressOption = None,
    set_switches: Annotated[
        bool,
        typer.Option(
            "--set-switches",
            help="Let the run set the switches of a running mesh, for all its users, and set them "
            "back afterwards.",
        ),
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Questions to ask; all by default.")
    ] = None,
    document_count: Annotated[
        int | None,
        typer.Option(
            "--documents",
            min=1,
            help="Documents to store, those that a question names always; all by default.",
        ),
    ] = None,
    filter_by: Annotated[
        list[str] | None,
        typer.Option(
            "--filter-by",
            metavar="NAME",
            help="Ask each question of the documents that have the same metadata of this name as "
            "the question; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Chooses questions and documents.")] = SEED,
    language: Annotated[str, typer.Option("--language", help="fr, en or auto.")] = "fr",
    preset: Annotated[
        str, typer.Option("--preset", help="Preset of the workspace that is made.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Where answers and report go; a run that was broken off goes on from there. By "
            "default evaluation/NAME-OF-THE-SET.",
        ),
    ] = None,
    demands: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="FIGURE=LEAST",
            help="Fail unless the last configuration reaches it, as in hit@3=0.9; may be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a mesh labelled questions with each configuration, and report what it found."""
    required = demands_of(demands or [])
    require_installed()
    judged = read_set(path, qrels).sampled(sample, seed).cut(document_count, seed)
    names = tuple(filter_by or ())
    judged.require_metadata(names)
    running = running or workspace is not None
    if preset and workspace is not None:
        raise CommandError(
            f"--preset is for a workspace that is made; {workspace} has its own", ExitCode.USAGE
        )
    chosen = _chosen(configurations, running=running)
    if any(each.switches for each in chosen) and running and not set_switches:
        raise CommandError(
            "configurations other than current change the switches of a running mesh for all its "
            "users; allow it with --set-switches",
            ExitCode.USAGE,
        )
    if not judged.documents and workspace is None and files is None:
        raise CommandError(
            "a file of questions needs --files, a folder of documents to take in, or --workspace, "
            "which holds them already",
            ExitCode.USAGE,
        )
    if files is not None and not files.is_dir():
        raise CommandError(f"{files} is no folder", ExitCode.USAGE)
    folder = RunFolder(
        out or Path("evaluation") / judged.name,
        {
            "set": judged.name,
            "fingerprint": fingerprint(judged),
            "language": language,
            "filter_by": list(names),
            "preset": preset,
        },
    )
    console = remarks() if as_json else results()
    given: dict[str, Mapping[str, Answer]] = {}

    async def measure(at: str) -> None:
        async with AsyncJustesse(at) as justesse:
            if workspace is None:
                settings = WorkspaceSettings(language=language, preset=preset)
                await _stored(console, justesse, judged, files, settings)
            slug = workspace or WORKSPACE
            for each in chosen:
                given[each.name] = await _asked(
                    console, justesse, slug, judged, each, folder, names
                )

    if running:
        with_running_mesh(gateway_address(address), measure)
    else:
        with_own_mesh(console, folder.mesh, measure)
    result = run_result(judged, given)
    folder.write_report(result)
    _show(console, result, folder, as_json)
    check_demands(required, result)


def _chosen(names: Sequence[str] | None, *, running: bool) -> list[Configuration]:
    try:
        wanted = names or ([CURRENT] if running else list(LADDER))
        return [configuration_named(name) for name in dict.fromkeys(wanted)]
    except ValueError as error:
        raise CommandError(f"--configuration: {error}", ExitCode.USAGE) from error


async def _stored(
    console: Console,
    justesse: AsyncJustesse,
    judged: JudgedSet,
    files: Path | None,
    settings: WorkspaceSettings,
) -> None:
    if files is not None:
        await store_files(console, justesse, WORKSPACE, files, settings)
        return
    with shown_part(console, "documents", len(judged.documents)) as report:
        await store_documents(justesse, WORKSPACE, judged.documents, settings, report)


async def _asked(
    console: Console,
    justesse: AsyncJustesse,
    workspace: str,
    judged: JudgedSet,
    configuration: Configuration,
    folder: RunFolder,
    filter_by: Sequence[str],
) -> Mapping[str, Answer]:
    file = folder.answers(configuration.name)
    async with switches_set(justesse, configuration.switches):
        with shown_part(console, configuration.name, len(judged.questions)) as report:
            await ask(justesse, workspace, judged.questions, file, report, filter_by)
    found = file.read()
    # Answers come as they are ready; rankings stand in the order of the questions.
    answers = {each.question_id: found[each.question_id] for each in judged.questions}
    folder.write_rankings(configuration.name, answers)
    return answers


def _show(console: Console, result: RunResult, folder: RunFolder, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    console.print()
    draw_result(console, result)
    console.print(f"Report: {folder.path / 'report.html'}", soft_wrap=True)
