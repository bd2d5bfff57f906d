"""`justesse context`: writes found passages as a block for a prompt."""

import sys
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.conversation import turns_of
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import plain, print_json, remarks
from justesse.cli.receipts import draw_receipt
from justesse.cli.search_options import (
    ContextOption,
    FilterOption,
    HistoryOption,
    LimitOption,
    PerDocumentOption,
    QueryArgument,
    ThresholdOption,
    facts_of,
    filter_of,
)
from justesse.cli.tables import new_table
from justesse.cli.threshold_rules import thresholds_of, with_spaces
from justesse.client import Context, ContextFormat, ContextOptions, Justesse

FormatOption = Annotated[
    ContextFormat | None,
    typer.Option("--format", "-f", help="How sources are written; by default as the preset says."),
]
LanguageOption = Annotated[
    str, typer.Option("--language", metavar="fr|en", help="Language of the prompts.")
]
TokensOption = Annotated[
    int,
    typer.Option(
        "--tokens", min=0, metavar="N", help="Estimated tokens of the block at most; 0: preset."
    ),
]
RoleOption = Annotated[str, typer.Option("--role", help="Who answers, and for whom.")]
PermissionsOption = Annotated[str, typer.Option("--permissions", help="What may be said to whom.")]
LiveDataOption = Annotated[
    str, typer.Option("--live-data", help="Facts of the moment that no document has.")
]
PromptsOption = Annotated[
    bool,
    typer.Option("--prompts", help="Write system and user prompt in place of the block alone."),
]


def context(
    query: QueryArgument,
    workspace: WorkspaceOption,
    style: FormatOption = None,
    language: LanguageOption = "",
    tokens: TokensOption = 0,
    role: RoleOption = "",
    permissions: PermissionsOption = "",
    live_data: LiveDataOption = "",
    prompts: PromptsOption = False,
    limit: LimitOption = None,
    passages_per_document: PerDocumentOption = 0,
    history: HistoryOption = None,
    filters: FilterOption = None,
    thresholds: ThresholdOption = None,
    facts: ContextOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Write what a search finds as a block of sources for a chat model.

    The block goes to standard output, what it is made of to standard error.
    """
    turns, condition = turns_of(history or []), filter_of(filters)
    rules, known = thresholds_of(thresholds or []), facts_of(facts)
    wanted = ContextOptions(
        format=style,
        language=language,
        token_budget=tokens,
        role=role,
        permissions_note=permissions,
        live_data=live_data,
    )
    with Justesse(gateway_address(address)) as justesse:
        built = justesse.build_context(
            workspace,
            query,
            wanted,
            limit=limit,
            history=turns,
            passages_per_document=passages_per_document,
            filter=condition,
            thresholds=with_spaces(rules, workspace, justesse, timeout),
            context=known,
            timeout=timeout,
        )
    if as_json:
        print_json(built)
        return
    # Its texts hold nothing that a terminal would obey: the gateway strips what is invisible.
    text = f"{built.system_prompt}\n\n{built.user_prompt}" if prompts else built.block
    sys.stdout.write(f"{text}\n" if text else "")
    sys.stdout.flush()
    _draw(remarks(), built)


def _draw(console: Console, built: Context) -> None:
    console.print()
    if built.sources:
        table = new_table()
        table.add_column("", justify="right")
        table.add_column("Cited as")
        table.add_column("Document")
        table.add_column("Where")
        table.add_column("Rank", justify="right")
        for source in built.sources:
            where = " > ".join(source.heading_path) or source.page
            table.add_row(
                str(source.index),
                plain(source.mark),
                plain(source.document_id),
                plain(where),
                str(source.rank),
            )
        console.print(table)
    else:
        console.print(plain("No source: nothing was found, or all of it was left out."))
    left_out = built.left_out
    console.print(
        plain(
            f"About {built.token_estimate} tokens. Left out: {left_out.superseded_count} "
            f"superseded, {left_out.over_document_bound_count} beyond the bound of a document, "
            f"{left_out.over_budget_count} beyond the budget."
            + (" The source is cut." if built.cut else ""),
            "dim",
        )
    )
    draw_receipt(console, built.receipt)
