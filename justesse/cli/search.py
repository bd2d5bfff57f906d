"""`justesse search`: asks a question and shows why each passage stands where it stands."""

from typing import Annotated

import typer

from justesse.cli.addresses import gateway_address
from justesse.cli.command_line import CommandError
from justesse.cli.conversation import FORM, turns_of
from justesse.cli.exit_codes import ExitCode
from justesse.cli.filter_expressions import FORM as FILTER_FORM
from justesse.cli.filter_expressions import filter_from_expressions
from justesse.cli.fusion_options import (
    DenseWeightOption,
    LexicalWeightOption,
    RankConstantOption,
    SpaceWeightOption,
    fusion_of,
)
from justesse.cli.ingestion.metadata_pairs import metadata_from_pairs
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import show
from justesse.cli.search_tables import draw_search_result
from justesse.cli.threshold_rules import FORM as THRESHOLD_FORM
from justesse.cli.threshold_rules import thresholds_of, with_spaces
from justesse.client import Justesse

USUAL_LIMIT = 8


def search(
    query: Annotated[str, typer.Argument(help="Question in plain words, in quotes.")],
    workspace: WorkspaceOption,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            help=f"Passages wanted, 1 to 100; {USUAL_LIMIT} by default. There are never more than "
            "the lists before fusion hold: switch rag_hybrid_candidate_count.",
        ),
    ] = None,
    passages_per_document: Annotated[
        int, typer.Option("--per-document", help="Most passages of one document; 0: no bound.")
    ] = 0,
    history: Annotated[
        list[str] | None,
        typer.Option(
            "--history",
            metavar="SPEAKER:TEXT",
            help=f"An earlier turn of the conversation; may be repeated, oldest first. {FORM}",
        ),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="CONDITION",
            help=f"What documents must fulfil; may be repeated, then all must hold. {FILTER_FORM}",
        ),
    ] = None,
    thresholds: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            metavar="RULE",
            help=f"What hits must reach; may be repeated, then all must hold. {THRESHOLD_FORM}",
        ),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="NAME=VALUE",
            help="A fact that thresholds compare with; may be repeated. Typed as in --filter.",
        ),
    ] = None,
    rank_constant: RankConstantOption = None,
    lexical_weight: LexicalWeightOption = None,
    dense_weight: DenseWeightOption = None,
    space_weights: SpaceWeightOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Find the passages that answer a question, with each stage's rank and score."""
    turns = turns_of(history or [])
    rules = thresholds_of(thresholds or [])
    try:
        condition = filter_from_expressions(filters or [])
    except ValueError as error:
        raise CommandError(f"--filter: {error}", ExitCode.USAGE) from error
    try:
        facts = metadata_from_pairs(context or [])
    except ValueError as error:
        raise CommandError(f"--context: {error}", ExitCode.USAGE) from error
    fusion = fusion_of(rank_constant, lexical_weight, dense_weight, space_weights)
    with Justesse(gateway_address(address)) as justesse:
        result = justesse.search(
            workspace,
            query,
            limit=limit,
            history=turns,
            passages_per_document=passages_per_document,
            filter=condition,
            thresholds=with_spaces(rules, workspace, justesse, timeout),
            context=facts,
            fusion=fusion,
            timeout=timeout,
        )
    wanted = limit or USUAL_LIMIT
    show(result, as_json, lambda console: draw_search_result(console, result, wanted))
