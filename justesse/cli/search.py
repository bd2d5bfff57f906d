"""`justesse search`: asks a question and shows why each passage stands where it stands."""

from justesse.cli.addresses import gateway_address
from justesse.cli.conversation import turns_of
from justesse.cli.fusion_options import (
    DenseWeightOption,
    LexicalWeightOption,
    RankConstantOption,
    SpaceWeightOption,
    fusion_of,
)
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import show
from justesse.cli.page_walk import searched_page
from justesse.cli.search_options import (
    USUAL_LIMIT,
    CandidatesOption,
    ContextOption,
    FilterOption,
    GroupOption,
    HistoryOption,
    LimitOption,
    PageOption,
    ParentsOption,
    PerDocumentOption,
    QueryArgument,
    ThresholdOption,
    facts_of,
    filter_of,
)
from justesse.cli.search_tables import draw_search_result
from justesse.cli.threshold_rules import thresholds_of, with_spaces
from justesse.client import Justesse


def search(
    query: QueryArgument,
    workspace: WorkspaceOption,
    limit: LimitOption = None,
    page: PageOption = 1,
    passages_per_document: PerDocumentOption = 0,
    group_by_document: GroupOption = False,
    candidate_count: CandidatesOption = 0,
    include_parents: ParentsOption = False,
    history: HistoryOption = None,
    filters: FilterOption = None,
    thresholds: ThresholdOption = None,
    context: ContextOption = None,
    rank_constant: RankConstantOption = None,
    lexical_weight: LexicalWeightOption = None,
    dense_weight: DenseWeightOption = None,
    space_weights: SpaceWeightOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Find the passages that answer a question, with each stage's rank and score."""
    turns, condition = turns_of(history or []), filter_of(filters)
    rules, facts = thresholds_of(thresholds or []), facts_of(context)
    fusion = fusion_of(rank_constant, lexical_weight, dense_weight, space_weights)
    with Justesse(gateway_address(address)) as justesse:
        result = searched_page(
            justesse,
            workspace,
            query,
            page,
            timeout,
            limit=limit,
            history=turns,
            passages_per_document=passages_per_document,
            filter=condition,
            thresholds=with_spaces(rules, workspace, justesse, timeout),
            context=facts,
            fusion=fusion,
            group_by_document=group_by_document,
            candidate_count=candidate_count,
            highlight=True,
            include_parents=include_parents,
        )
    wanted = 0 if page > 1 else limit or USUAL_LIMIT
    show(result, as_json, lambda console: draw_search_result(console, result, wanted))
