"""How the answer to a question is drawn: passages with ranks and scores, then the receipt."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from justesse.cli.output import plain
from justesse.cli.receipts import draw_receipt
from justesse.cli.snippets import Snippet, body_start
from justesse.cli.tables import NARROW, new_table, number
from justesse.client import Hit, SearchResult, TextSpan

_LEGEND = "Each stage: rank, then score; rerank scores compare inside this answer only."
_STAGES = (("Dense", "cosine"), ("BM25", "score"), ("Fused", "score"), ("Rerank", "relative"))


def draw_search_result(console: Console, result: SearchResult, wanted: int = 0) -> None:
    """Draws hits and receipt; says so where there are fewer hits than `wanted`."""
    if result.hits:
        draw = _stacked_hits if console.width < NARROW else _hits_table
        console.print(draw(result.hits, result.searched_queries, console.width))
        console.print()
        console.print(_LEGEND, style="dim")
    else:
        console.print("Nothing found.")
    if result.next_page_token:
        console.print(f"{result.total_count} in all; --page shows the others.", style="dim")
    elif 0 < len(result.hits) < wanted:
        console.print(
            f"{len(result.hits)} of the {wanted} wanted: no more were in the lists before fusion, "
            "which --candidates and switch rag_hybrid_candidate_count bound.",
            style="dim",
        )
    if len(result.searched_queries) > 1:
        console.print(plain(f"Also searched for: {' | '.join(result.searched_queries[1:])}", "dim"))
    console.print()
    draw_receipt(console, result.receipt)


def _hits_table(hits: Sequence[Hit], questions: Sequence[str], width: int) -> Table:
    """Draws one row a hit: in the columns of the stages the rank stands above the score."""
    table = new_table(width)
    table.add_column("#", justify="right", style="bold")
    table.add_column("Passage", ratio=1)
    for stage, kind in _STAGES:
        name = Text.assemble(f"{stage}\n", (kind, "dim"))
        table.add_column(name, justify="right", no_wrap=True)
    for hit in hits:
        places = (f"{rank}\n{score}" for rank, score in _places(hit))
        table.add_row(str(hit.rank), _passage(hit, questions), *places, end_section=True)
    return table


def _stacked_hits(hits: Sequence[Hit], questions: Sequence[str], width: int) -> Table:
    """Draws the stages below the passage, for terminals that have no room for columns."""
    table = Table.grid(padding=(0, 1, 1, 0), expand=True)
    table.add_column(justify="right", style="bold")
    table.add_column(ratio=1)
    for hit in hits:
        places = Text(" · ").join(
            Text(f"{stage}\u00a0{rank}\u00a0({score})")
            for (stage, _), (rank, score) in zip(_STAGES, _places(hit), strict=True)
        )
        table.add_row(str(hit.rank), Group(_passage(hit, questions), places))
    return table


def _passage(hit: Hit, questions: Sequence[str]) -> Group:
    source = hit.source
    title = plain(source.title or source.external_id, "bold")
    if source.superseded:
        title.append(" superseded", style="bold yellow")
    version = source.version and f"version {source.version}"
    place = plain(" · ".join(_place_of(hit, version)), "cyan")
    # An id without spaces is broken rather than cut: it names the document to other commands.
    place.overflow = "fold"
    start = body_start(hit.text)
    snippet = Snippet(
        hit.text[start:],
        tuple(questions),
        source.language,
        highlights=tuple(TextSpan(span.start - start, span.end - start) for span in hit.highlights),
    )
    if hit.parent is None:
        return Group(title, place, snippet)
    parent = hit.parent
    last = parent.first_chunk_index + parent.passage_count - 1
    header = plain(f"Block of passages {parent.first_chunk_index} to {last}:", "dim")
    return Group(title, place, snippet, header, plain(parent.text))


def _place_of(hit: Hit, version: str) -> list[str]:
    """Lists what says where a passage stands, nothing twice."""
    headings = " › ".join(
        heading for heading in hit.heading_path if heading not in (hit.source.title, hit.location)
    )
    return [part for part in (hit.source.external_id, version, hit.location, headings) if part]


def _places(hit: Hit) -> tuple[tuple[str, str], ...]:
    """Lists rank and score in the order of the stages, a dash for what is missing."""
    scores = hit.scores
    return tuple(
        ("-" if rank is None else str(rank), number(score, decimals))
        for rank, score, decimals in (
            (scores.dense_rank, scores.cosine, 3),
            (scores.bm25_rank, scores.bm25_score, 2),
            (scores.fused_rank, scores.fused_score, 4),
            (scores.rerank_rank, scores.rerank_score, 3),
        )
    )
