"""How the outcomes of an ingestion are drawn."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from justesse.cli.ingestion.run import FAILED, SKIPPED, FileOutcome
from justesse.cli.output import plain
from justesse.cli.tables import fitting, new_table
from justesse.cli.wording import counted, waiting

_STYLES = {
    "created": "green",
    "replaced": "green",
    "unchanged": "dim",
    FAILED: "bold red",
    SKIPPED: "yellow",
}


def draw_outcomes(console: Console, outcomes: Sequence[FileOutcome]) -> None:
    """Draws one row a file, and the sum; files that were skipped are only counted."""
    shown = [outcome for outcome in outcomes if outcome.outcome != SKIPPED]
    table = new_table()
    table.add_column("Outcome", no_wrap=True)
    remarked = any(_remark(outcome) for outcome in shown)
    table.add_column("Document", overflow="fold", ratio=3 if remarked else None)
    table.add_column("Passages", justify="right")
    if remarked:
        table.add_column("Remark", overflow="fold", ratio=2)
    for outcome in shown:
        table.add_row(
            Text(outcome.outcome, style=_STYLES.get(outcome.outcome, "")),
            plain(outcome.external_id),
            "" if outcome.failed else str(outcome.passage_count),
            *([_remark(outcome)] if remarked else []),
        )
    console.print(fitting(console, table))
    console.print()
    console.print(outcome_sum(outcomes))
    if len(shown) < len(outcomes):
        console.print(
            "The mesh was lost, so the rest was skipped; run the same command again to go on.",
            style="yellow",
        )


def outcome_sum(outcomes: Sequence[FileOutcome]) -> Text:
    """Counts the outcomes in one line."""
    counts = Counter(outcome.outcome for outcome in outcomes)
    kinds = [kind for kind in (*_STYLES, *sorted(counts.keys() - set(_STYLES))) if counts[kind]]
    text = Text(f"{counted(len(outcomes), 'file')}: ")
    text.append_text(
        Text(", ").join(Text(f"{counts[kind]} {kind}", _STYLES.get(kind, "")) for kind in kinds)
    )
    text.append(f"; {counted(sum(outcome.passage_count for outcome in outcomes), 'passage')}")
    awaiting = sum(outcome.awaiting_passage_count for outcome in outcomes)
    if awaiting:
        text.append(f"; {waiting(awaiting)}, run the same command again for them", "yellow")
    return text


def _remark(outcome: FileOutcome) -> Text:
    # The service's own remarks say why passages wait, where it knows.
    untold = outcome.awaiting_passage_count and not outcome.warnings
    remarks = [
        outcome.message,
        *outcome.warnings,
        waiting(outcome.awaiting_passage_count) if untold else "",
    ]
    return plain("; ".join(remark for remark in remarks if remark))
