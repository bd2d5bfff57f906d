"""How the answer to a question is drawn: passages with ranks and scores, then the receipt."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from justesse.cli.output import one_line, plain
from justesse.cli.tables import new_table, number
from justesse.client import Hit, Receipt, SearchResult, StageOutcome, StageReport

WIDEST_TABLE = 120
SNIPPET_LINES = 3

_OUTCOME_STYLES = {
    StageOutcome.RAN: "green",
    StageOutcome.SWITCHED_OFF: "yellow",
    StageOutcome.SKIPPED: "dim",
    StageOutcome.DEGRADED: "bold red",
    StageOutcome.UNKNOWN: "yellow",
}


@dataclass(frozen=True, slots=True)
class Snippet:
    """The beginning of a text, cut after some lines of whatever width there is."""

    text: str
    lines: int = SNIPPET_LINES

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields at most `lines` lines; an ellipsis ends a cut text."""
        width = options.max_width
        wrapped = Text(one_line(self.text)).wrap(console, width)
        for position, line in enumerate(wrapped[: self.lines]):
            if position == self.lines - 1 and len(wrapped) > self.lines:
                line.truncate(width - 1)
                line.rstrip()
                line.append("…")
            yield line


def draw_search_result(console: Console, result: SearchResult) -> None:
    """Draws hits and receipt."""
    if result.hits:
        console.print(hits_table(result.hits, min(console.width, WIDEST_TABLE)))
    else:
        console.print("Nothing found.")
    if len(result.searched_queries) > 1:
        console.print()
        console.print(plain(f"Also searched for: {' | '.join(result.searched_queries[1:])}", "dim"))
    console.print()
    console.print(receipt_title(result.receipt))
    console.print(receipt_table(result.receipt, min(console.width, WIDEST_TABLE)))


def hits_table(hits: Iterable[Hit], width: int) -> Table:
    """Draws one row a hit: in the columns of the stages the rank stands above the score."""
    table = new_table(width)
    table.add_column("#", justify="right", style="bold")
    table.add_column("Passage", ratio=1)
    for stage in ("Dense", "BM25", "Fused", "Rerank"):
        table.add_column(stage, justify="right", no_wrap=True)
    for hit in hits:
        scores = hit.scores
        table.add_row(
            str(hit.rank),
            _passage(hit),
            _place(scores.dense_rank, scores.cosine, 3),
            _place(scores.bm25_rank, scores.bm25_score, 2),
            _place(scores.fused_rank, scores.fused_score, 4),
            _place(scores.rerank_rank, scores.rerank_score, 3),
            end_section=True,
        )
    return table


def receipt_title(receipt: Receipt) -> Text:
    """Says in one line how the answer came about as a whole."""
    parts = [f"{receipt.latency_ms:.1f} ms"]
    parts += [f"{cost.amount:.6f} {one_line(cost.currency)}" for cost in receipt.costs]
    title = Text(f"Receipt {one_line(receipt.request_id)}: {', '.join(parts)}", style="bold")
    if receipt.degraded:
        title.append(", degraded", style=_OUTCOME_STYLES[StageOutcome.DEGRADED])
    return title


def receipt_table(receipt: Receipt, width: int) -> Table:
    """Draws one row a stage."""
    table = new_table(width)
    table.add_column("Stage")
    table.add_column("Outcome", no_wrap=True)
    table.add_column("By, or why not", ratio=1)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("Tokens", justify="right", no_wrap=True)
    table.add_column("Cost", justify="right", no_wrap=True)
    for stage in receipt.stages:
        table.add_row(
            plain(stage.stage),
            Text(stage.outcome.replace("_", " "), style=_OUTCOME_STYLES[stage.outcome]),
            _explanation(stage),
            f"{stage.latency_ms:.1f}",
            str(stage.input_token_count + stage.output_token_count or "-"),
            "-" if stage.cost is None else f"{stage.cost:.6f} {one_line(stage.currency)}",
        )
    return table


def _passage(hit: Hit) -> Group:
    source = hit.source
    title = plain(source.title or source.external_id, "bold")
    if source.superseded:
        title.append(" superseded", style="bold yellow")
    version = source.version and f"version {source.version}"
    place = plain(" · ".join(_place_of(hit, version)), "cyan")
    # An id without spaces is broken rather than cut: it names the document to other commands.
    place.overflow = "fold"
    return Group(title, place, Snippet(without_headings(hit.text)))


def _place_of(hit: Hit, version: str) -> list[str]:
    """Lists what says where a passage stands, nothing twice."""
    headings = " › ".join(
        heading for heading in hit.heading_path if heading not in (hit.source.title, hit.location)
    )
    return [part for part in (hit.source.external_id, version, hit.location, headings) if part]


def without_headings(text: str) -> str:
    """Returns a passage from its first line that is no Markdown heading; all of it if none is."""
    lines = text.splitlines()
    body = dropwhile(lambda line: not line.strip() or line.startswith("#"), lines)
    return "\n".join(body) or text


def _place(rank: int | None, score: float | None, decimals: int) -> str:
    return f"{'-' if rank is None else rank}\n{number(score, decimals)}"


def _explanation(stage: StageReport) -> Text:
    worker = plain(" ".join(part for part in (stage.provider, stage.model) if part))
    reason = plain(": ".join(part for part in (stage.reason, stage.detail) if part))
    return Text("\n").join(part for part in (worker, reason) if part)
