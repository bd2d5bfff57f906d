"""`justesse reembed`: moves a workspace to another embedding model without a pause."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.ingestion.patience import PAUSES_S
from justesse.cli.labelled_questions import labelled_questions
from justesse.cli.options import AddressOption, JsonOption
from justesse.cli.output import plain, remarks, show
from justesse.cli.tables import facts
from justesse.cli.wording import counted
from justesse.client import (
    GateVerdict,
    Justesse,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    SwitchGate,
    UnavailableError,
)


def reembed(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Workspace to embed again.")],
    target: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="SPACE",
            help="Space to embed into, or the name of its provider (status lists them); by "
            "default that of the first provider that answers.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take, and do nothing.")
    ] = False,
    no_switch: Annotated[
        bool, typer.Option("--no-switch", help="Embed everything, switch later by hand.")
    ] = False,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Questions with the documents that answer them (CSV or lines of JSON): compare "
            "both spaces on them before the switch.",
        ),
    ] = None,
    hit_count: Annotated[
        int, typer.Option("--hits", min=1, max=100, help="Hits of an answer that count.")
    ] = 8,
    min_overlap: Annotated[
        float,
        typer.Option(
            "--min-overlap", min=0, max=1, help="Smallest mean share of hits that both find."
        ),
    ] = 0.0,
    max_hit_loss: Annotated[
        float,
        typer.Option(
            "--max-hit-loss", min=0, max=1, help="Largest loss of the share of answered questions."
        ),
    ] = 0.0,
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Embed a workspace into another space beside the present one, then switch to it.

    Searches go on meanwhile. Interrupted in any way, the same command goes on where it ended. Exit
    code 1 if the questions forbade the switch.
    """
    gate = None
    if questions is not None:
        gate = SwitchGate(labelled_questions(questions), hit_count, min_overlap, max_hit_loss)
    elif min_overlap or max_hit_loss:
        raise CommandError("--min-overlap and --max-hit-loss need --questions", ExitCode.USAGE)
    told: dict[str, Any] = {}
    console = remarks()
    with Justesse(gateway_address(address)) as justesse:

        def ask() -> Iterator[ReembeddingEvent]:
            return justesse.reembed(
                slug, target, dry_run=dry_run, keep_preferred=no_switch, gate=gate
            )

        for event in patiently(ask):
            _note(event, told, console, quiet=as_json)
    show(told, as_json, lambda results: _draw(results, told))
    verdict = told.get("verdict")
    if isinstance(verdict, GateVerdict) and not verdict.passed:
        raise typer.Exit(ExitCode.SOME_FAILED)


def patiently(
    ask: Callable[[], Iterator[ReembeddingEvent]], pause: Callable[[float], None] = time.sleep
) -> Iterator[ReembeddingEvent]:
    """Yields the events of a call, and of another one where a process of the mesh was lost.

    Progress gives it all its patience back.
    """
    failures = 0
    while True:
        try:
            for event in ask():
                if isinstance(event, ReembeddingProgress):
                    failures = 0
                yield event
        except UnavailableError:
            if failures == len(PAUSES_S):
                raise
            pause(PAUSES_S[failures])
            failures += 1
        else:
            return


def _note(event: ReembeddingEvent, told: dict[str, Any], console: Console, *, quiet: bool) -> None:
    match event:
        case ReembeddingPlan():
            told.setdefault("plan", event)
        case ReembeddingProgress():
            told["progress"] = event
            if not quiet:
                console.print(
                    f"{event.done_passage_count} of {counted(event.passage_count, 'passage')}",
                    soft_wrap=True,
                )
        case GateVerdict():
            told["verdict"] = event
        case ReembeddingOutcome():
            told["outcome"] = event


def _draw(console: Console, told: dict[str, Any]) -> None:
    plan: ReembeddingPlan = told["plan"]
    progress: ReembeddingProgress | None = told.get("progress")
    verdict: GateVerdict | None = told.get("verdict")
    outcome: ReembeddingOutcome | None = told.get("outcome")
    lines = [
        ("From", plan.preferred_space_id),
        ("To", plan.space_id),
        ("Model", f"{plan.model} of {plan.provider}"),
        ("To embed", f"{plan.awaiting_passage_count} of {counted(plan.passage_count, 'passage')}"),
        ("Estimate", _price(plan.token_estimate, plan.cost_estimate, plan.currency)),
    ]
    if progress is not None:
        lines.append(
            ("Taken", _price(progress.input_token_count, progress.cost, progress.currency))
        )
        if progress.refused_passage_count:
            refused = counted(progress.refused_passage_count, "passage")
            lines.append(("Refused", f"{refused} by the model; found where they are"))
    if verdict is not None:
        lines += [
            ("Questions", str(verdict.question_count)),
            (f"Overlap@{verdict.hit_count}", f"{verdict.overlap:.3f}"),
            (
                f"Hit@{verdict.hit_count}",
                f"{verdict.old_hit_rate:.3f} before, {verdict.new_hit_rate:.3f} after",
            ),
        ]
    console.print(facts(lines))
    if outcome is not None:
        console.print()
        console.print(plain(_ending(outcome)))


def _price(tokens: int, cost: float | None, currency: str) -> str:
    price = "price unknown" if cost is None else f"{cost:.4f} {currency}" if cost else "free"
    return f"{counted(tokens, 'token')}, {price}"


def _ending(outcome: ReembeddingOutcome) -> str:
    if not outcome.switched:
        return f"Not switched: {outcome.detail}."
    text = (
        f"Switched to {outcome.preferred_space_id}. Undo with 'justesse spaces switch', to "
        f"{outcome.previous_space_id or 'another space'}; 'justesse spaces drop' ends that."
    )
    if outcome.refused_passage_count:
        text += (
            " For the passages that the new model refuses, searches go on asking both models; "
            "'justesse spaces drop --leave-waiting' ends that, and words alone find them then."
        )
    return text
