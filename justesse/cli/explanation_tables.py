"""How an explanation is drawn: the outcome first, then each stage's numbers, then the receipt."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from justesse.cli.output import plain
from justesse.cli.receipts import draw_receipt, provider_in_words
from justesse.cli.tables import fitting, new_table, number
from justesse.cli.wording import counted
from justesse.client import (
    ExpectationOutcome,
    ExplainedPassage,
    FormulaParts,
    RerankStep,
    RewriteOrigin,
    SearchedList,
    SearchExplanation,
)

MOST_IN_FULL = 3
MOST_IN_BRIEF = 10
MOST_TERMS = 12

_ORIGINS = {
    RewriteOrigin.MODEL: "written by a model",
    RewriteOrigin.CACHE: "written by a model a short while ago",
    RewriteOrigin.RULES: "written by rules",
}


def draw_explanation(console: Console, explanation: SearchExplanation) -> None:
    """Draws the best placed passages in full, some of the others in a line each."""
    _draw_question(console, explanation)
    for passage in explanation.passages[:MOST_IN_FULL]:
        console.print()
        _draw_passage(console, passage, explanation)
    _draw_others(console, explanation)
    console.print()
    draw_receipt(console, explanation.receipt)


def _draw_question(console: Console, explanation: SearchExplanation) -> None:
    source = explanation.source
    title = plain(source.title or source.external_id, "bold")
    if source.superseded:
        title.append(" superseded", style="bold yellow")
    console.print(title)
    version = source.version and f"version {source.version}"
    passages = counted(explanation.passage_count, "passage")
    place = " · ".join(part for part in (source.external_id, version, passages) if part)
    console.print(plain(place, "cyan"))
    console.print()
    for wording in explanation.searched_queries[1:]:
        origin = _ORIGINS.get(explanation.rewrite_origin, "rewritten")
        console.print(plain(f"Also searched for, {origin}: {wording}"))
    if explanation.standalone_question != explanation.searched_queries[0]:
        console.print(plain(f"Reranked for: {explanation.standalone_question}"))
    console.print(_funnel(explanation))
    if explanation.documents_changed:
        console.print(
            "Documents changed meanwhile: ask again where the numbers disagree.", style="yellow"
        )
    if not explanation.passages:
        console.print("The document holds no passages.")


def _funnel(explanation: SearchExplanation) -> Text:
    lists = ", ".join(_list_size(made, explanation) for made in explanation.lists) or "none"
    return plain(
        f"Lists, cut at {explanation.list_length}: {lists}. "
        f"{counted(explanation.candidate_count, 'candidate')} after fusion, "
        f"{counted(explanation.limit, 'hit')} wanted.",
        "dim",
    )


def _list_size(made: SearchedList, explanation: SearchExplanation) -> str:
    name = _list_name(made.list_name, made.query_index, explanation)
    return f"{name} {made.hit_count}{'' if made.exact else ' (approximate)'}"


def _list_name(name: str, query_index: int, explanation: SearchExplanation) -> str:
    one_wording = len(explanation.searched_queries) == 1
    return name if one_wording else f"{name}, wording {query_index + 1}"


def _draw_passage(
    console: Console, passage: ExplainedPassage, explanation: SearchExplanation
) -> None:
    console.print(Text.assemble(_name(passage, explanation), "  ", _outcome(passage)))
    if passage.standings:
        console.print(fitting(console, _standings_table(passage, explanation)))
        if passage.outcome is ExpectationOutcome.FILTERED_OUT:
            console.print("Ranks as they would be without the filter.", style="dim")
    else:
        console.print("No list holds it.", style="dim")
    if passage.fused_rank is not None:
        console.print(f"Fused: place {passage.fused_rank}, score {number(passage.fused_score, 4)}")
    if passage.matched_terms:
        console.print(_terms(passage))
    if passage.rerank is not None:
        console.print(plain(reranking_in_words(passage.rerank)))


def _standings_table(passage: ExplainedPassage, explanation: SearchExplanation) -> Table:
    table = new_table()
    table.add_column("List", overflow="fold")
    for name in ("Rank", "Counts as", "Score", "RRF", "Share"):
        table.add_column(name, justify="right", no_wrap=True)
    for standing in passage.standings:
        counted_in = standing.contribution > 0
        table.add_row(
            plain(_list_name(standing.list_name, standing.query_index, explanation)),
            str(standing.rank),
            f"{standing.effective_rank:.4g}",
            number(standing.score, 3),
            number(standing.contribution, 4) if counted_in else "cut",
            f"{standing.share:.0%}" if counted_in else "-",
            style="" if counted_in else "dim",
        )
    return table


def _terms(passage: ExplainedPassage) -> Text:
    shown = passage.matched_terms[:MOST_TERMS]
    more = len(passage.matched_terms) - len(shown)
    terms = " · ".join(f"{matched.term} {matched.weight:.2f}" for matched in shown)
    return plain(f"Terms: {terms}{f' and {more} more' if more else ''}")


def reranking_in_words(step: RerankStep) -> str:
    """Says what moved the passage, and by which numbers."""
    sorter = provider_in_words(step.provider) or "reranker"
    if step.model:
        sorter = f"{step.model} ({sorter})"
    text = f"Reranked by {sorter}: place {step.rank_before} became {step.rank_after}"
    if step.formula_parts is not None:
        text += f"; {number(step.score, 3)} = {_formula(step.formula_parts)}"
    elif step.score is not None:
        text += f"; score {number(step.score, 3)}"
    return text


def _formula(parts: FormulaParts) -> str:
    terms = [
        f"{weight:.2f} x {share:.3f} ({name})"
        for weight, share, name in (
            (parts.similarity_weight, parts.similarity_share, "similarity"),
            (1 - parts.similarity_weight, parts.lexical_share, "BM25"),
        )
        if share is not None
    ]
    return " + ".join(terms)


def _draw_others(console: Console, explanation: SearchExplanation) -> None:
    passages = explanation.passages[MOST_IN_FULL:]
    if not passages:
        return
    console.print()
    for passage in passages[:MOST_IN_BRIEF]:
        console.print(Text.assemble(_name(passage, explanation), "  ", _outcome(passage)))
    more = len(passages) - MOST_IN_BRIEF
    if more > 0:
        console.print(
            f"{counted(more, 'more passage')}; --passage N shows one, --json all.", style="dim"
        )


def _name(passage: ExplainedPassage, explanation: SearchExplanation) -> Text:
    known = (explanation.source.title, passage.location)
    headings = " › ".join(heading for heading in passage.heading_path if heading not in known)
    place = " · ".join(part for part in (passage.location, headings) if part)
    return plain(f"[{passage.chunk_index}] {place}".rstrip(), "bold")


def _outcome(passage: ExplainedPassage) -> Text:
    returned = passage.outcome is ExpectationOutcome.RETURNED
    detail = passage.detail or passage.outcome.replace("_", " ")
    return plain(detail if returned else f"not returned: {detail}", "green" if returned else "red")
