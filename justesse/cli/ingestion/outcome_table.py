"""How the outcomes of an ingestion are drawn."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from justesse.cli.ingestion.run import FAILED, FileOutcome
from justesse.cli.output import plain
from justesse.cli.tables import new_table

_STYLES = {"created": "green", "replaced": "green", "unchanged": "dim", FAILED: "bold red"}
_ORDER = ("created", "replaced", "unchanged", FAILED)


def draw_outcomes(console: Console, outcomes: Sequence[FileOutcome]) -> None:
    """Draws one row a file and the sum."""
    table = new_table()
    table.add_column("Outcome", no_wrap=True)
    remarked = any(_remark(outcome) for outcome in outcomes)
    table.add_column("Document", overflow="fold", ratio=3 if remarked else None)
    table.add_column("Passages", justify="right")
    if remarked:
        table.add_column("Remark", overflow="fold", ratio=2)
    for outcome in outcomes:
        table.add_row(
            Text(outcome.outcome, style=_STYLES.get(outcome.outcome, "")),
            plain(outcome.external_id),
            "" if outcome.failed else str(outcome.passage_count),
            *([_remark(outcome)] if remarked else []),
        )
    console.print(table)
    console.print()
    console.print(outcome_sum(outcomes))


def outcome_sum(outcomes: Sequence[FileOutcome]) -> Text:
    """Counts the outcomes in one line."""
    counts = Counter(outcome.outcome for outcome in outcomes)
    kinds = [kind for kind in (*_ORDER, *sorted(counts.keys() - set(_ORDER))) if counts[kind]]
    text = Text(f"{len(outcomes)} file{'' if len(outcomes) == 1 else 's'}: ")
    text.append_text(
        Text(", ").join(Text(f"{counts[kind]} {kind}", _STYLES.get(kind, "")) for kind in kinds)
    )
    passages = sum(outcome.passage_count for outcome in outcomes)
    text.append(f"; {passages} passages")
    awaiting = sum(outcome.awaiting_passage_count for outcome in outcomes)
    if awaiting:
        text.append(f", {awaiting} of them wait to be embedded", "yellow")
    return text


def _remark(outcome: FileOutcome) -> Text:
    remarks = [outcome.message, *outcome.warnings]
    if outcome.awaiting_passage_count:
        remarks.append(f"{outcome.awaiting_passage_count} passages wait to be embedded")
    return plain("; ".join(remark for remark in remarks if remark))
