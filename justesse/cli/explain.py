"""`justesse explain`: says why a search returns an expected passage, or why not."""

from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.conversation import turns_of
from justesse.cli.explanation_tables import draw_explanation
from justesse.cli.fusion_options import (
    DenseWeightOption,
    LexicalWeightOption,
    RankConstantOption,
    SpaceWeightOption,
    fusion_of,
)
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import show
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
from justesse.cli.threshold_rules import thresholds_of, with_spaces
from justesse.client import Justesse

DocumentOption = Annotated[
    str, typer.Option("--document", "-d", metavar="ID", help="Id of the expected document.")
]
PassageOption = Annotated[
    int | None,
    typer.Option(
        "--passage",
        "-p",
        min=0,
        metavar="N",
        help="Number of the expected passage in the document, from 0, as 'documents show' has it; "
        "all its passages by default.",
    ),
]


def explain(
    query: QueryArgument,
    workspace: WorkspaceOption,
    document: DocumentOption,
    passage: PassageOption = None,
    limit: LimitOption = None,
    passages_per_document: PerDocumentOption = 0,
    history: HistoryOption = None,
    filters: FilterOption = None,
    thresholds: ThresholdOption = None,
    context: ContextOption = None,
    rank_constant: RankConstantOption = None,
    lexical_weight: LexicalWeightOption = None,
    dense_weight: DenseWeightOption = None,
    space_weights: SpaceWeightOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Say why a search returns an expected document, or why not, stage by stage."""
    turns, condition = turns_of(history or []), filter_of(filters)
    rules, facts = thresholds_of(thresholds or []), facts_of(context)
    fusion = fusion_of(rank_constant, lexical_weight, dense_weight, space_weights)
    with Justesse(gateway_address(address)) as justesse:
        explanation = justesse.explain(
            workspace,
            query,
            document,
            chunk_index=passage,
            limit=limit,
            history=turns,
            passages_per_document=passages_per_document,
            filter=condition,
            thresholds=with_spaces(rules, workspace, justesse, timeout),
            context=facts,
            fusion=fusion,
            timeout=timeout,
        )
    show(explanation, as_json, lambda console: draw_explanation(console, explanation))
