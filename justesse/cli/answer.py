"""`justesse answer`: answers a question in words, as they are written."""

from collections.abc import Iterable
from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.answer_drawing import draw_outcome, say
from justesse.cli.context import LiveDataOption, PermissionsOption, RoleOption
from justesse.cli.conversation import turns_of
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import print_json, results
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
from justesse.client import (
    AnswerCitations,
    AnswerDelta,
    AnswerEvent,
    AnswerOutcome,
    Citation,
    ContextOptions,
    Justesse,
    SearchOptions,
)

LanguageOption = Annotated[
    str,
    typer.Option(
        "--language", metavar="fr|en", help="Language to answer in; that of the question."
    ),
]


def answer(
    question: QueryArgument,
    workspace: WorkspaceOption,
    language: LanguageOption = "",
    role: RoleOption = "",
    permissions: PermissionsOption = "",
    live_data: LiveDataOption = "",
    limit: LimitOption = None,
    passages_per_document: PerDocumentOption = 0,
    history: HistoryOption = None,
    filters: FilterOption = None,
    thresholds: ThresholdOption = None,
    context: ContextOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents alone, with citations, or say why not."""
    turns, condition = turns_of(history or []), filter_of(filters)
    rules, facts = thresholds_of(thresholds or []), facts_of(context)
    wanted = ContextOptions(
        language=language, role=role, permissions_note=permissions, live_data=live_data
    )
    with Justesse(gateway_address(address)) as justesse:
        options = SearchOptions(
            limit=limit,
            history=turns,
            passages_per_document=passages_per_document,
            filter=condition,
            thresholds=with_spaces(rules, workspace, justesse, timeout),
            context=facts,
        )
        if as_json:
            print_json(justesse.answer(workspace, question, wanted, timeout=timeout, **options))
        else:
            _write(justesse.stream_answer(workspace, question, wanted, timeout=timeout, **options))


def _write(events: Iterable[AnswerEvent]) -> None:
    console = results()
    citations: tuple[Citation, ...] = ()
    for event in events:
        match event:
            case AnswerDelta(text):
                say(console, text)
            case AnswerCitations():
                citations = event.citations
            case AnswerOutcome():
                draw_outcome(console, citations, event)
