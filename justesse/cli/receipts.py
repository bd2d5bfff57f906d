"""How a receipt is drawn: what each stage did, how long it took and what it cost."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from justesse.cli.output import one_line, plain
from justesse.cli.tables import NARROW, new_table
from justesse.client import Receipt, StageOutcome, StageReport

_OUTCOME_STYLES = {
    StageOutcome.RAN: "green",
    StageOutcome.SWITCHED_OFF: "yellow",
    StageOutcome.SKIPPED: "dim",
    StageOutcome.DEGRADED: "bold red",
    StageOutcome.UNKNOWN: "yellow",
}
_IN_PROCESS = "embedded"
"""Name of the provider that runs inside a service; beside a stage it reads like a verb."""


def draw_receipt(console: Console, receipt: Receipt) -> None:
    """Draws the receipt of an answer."""
    console.print(receipt_title(receipt))
    draw = _stacked_stages if console.width < NARROW else _stages_table
    console.print(draw(receipt.stages, console.width))


def receipt_title(receipt: Receipt) -> Text:
    """Says in one line how the answer came about as a whole."""
    parts = [f"{receipt.latency_ms:.1f} ms"]
    if receipt.variant:
        parts.append(f"variant {one_line(receipt.variant)}")
    parts += [f"{cost.amount:.6f} {one_line(cost.currency)}" for cost in receipt.costs]
    title = Text(f"Receipt {one_line(receipt.request_id)}: {', '.join(parts)}", style="bold")
    if receipt.degraded:
        title.append(", degraded", style=_OUTCOME_STYLES[StageOutcome.DEGRADED])
    return title


def provider_in_words(name: str) -> str:
    """Returns the name of a provider, in words that cannot be taken for a deed."""
    return "built-in" if name == _IN_PROCESS else name


def _stages_table(stages: Sequence[StageReport], width: int) -> Table:
    """Draws one row a stage."""
    table = new_table(width)
    table.add_column("Stage")
    table.add_column("Outcome", no_wrap=True)
    table.add_column("By, or why not", ratio=1)
    numbers: tuple[tuple[str, Callable[[StageReport], str]], ...] = (
        ("ms", lambda stage: f"{stage.latency_ms:.1f}"),
        ("Tokens", _tokens),
        ("Cost", _cost),
    )
    for name, _ in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for stage in stages:
        table.add_row(
            plain(stage.stage),
            _outcome(stage),
            _explanation(stage),
            *(write(stage) for _, write in numbers),
        )
    return table


def _stacked_stages(stages: Sequence[StageReport], width: int) -> Table:
    """Draws the numbers of a stage below its name, for terminals without room for columns."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for stage in stages:
        tokens, cost = _tokens(stage), _cost(stage)
        facts = [f"{stage.latency_ms:.1f} ms"]
        facts += [f"{tokens} tokens"] if tokens != "-" else []
        facts += [cost] if cost != "-" else []
        told = Text(", ").join([_outcome(stage), *map(Text, facts)])
        table.add_row(plain(stage.stage), told)
        if explanation := _explanation(stage):
            table.add_row("", explanation)
    return table


def _outcome(stage: StageReport) -> Text:
    return Text(stage.outcome.replace("_", " "), style=_OUTCOME_STYLES[stage.outcome])


def _tokens(stage: StageReport) -> str:
    return str(stage.input_token_count + stage.output_token_count or "-")


def _cost(stage: StageReport) -> str:
    return "-" if stage.cost is None else f"{stage.cost:.6f} {one_line(stage.currency)}"


def _explanation(stage: StageReport) -> Text:
    provider = provider_in_words(stage.provider)
    named = f"{stage.model} ({provider})" if provider else stage.model
    worker = plain(named if stage.model else provider)
    reason = plain(": ".join(part for part in (stage.reason, stage.detail) if part))
    return Text("\n").join(part for part in (worker, reason) if part)
