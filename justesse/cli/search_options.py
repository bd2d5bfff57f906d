"""Options of the commands that ask a question."""

from collections.abc import Sequence
from typing import Annotated

import typer

from justesse.cli.command_line import CommandError
from justesse.cli.conversation import FORM
from justesse.cli.exit_codes import ExitCode
from justesse.cli.filter_expressions import FORM as FILTER_FORM
from justesse.cli.filter_expressions import filter_from_expressions
from justesse.cli.ingestion.metadata_pairs import metadata_from_pairs
from justesse.cli.threshold_rules import FORM as THRESHOLD_FORM
from justesse.client import MetadataValue
from justesse.client.filters import Filter

USUAL_LIMIT = 8

QueryArgument = Annotated[str, typer.Argument(help="Question in plain words, in quotes.")]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        help=f"Passages wanted, 1 to 100; {USUAL_LIMIT} by default. There are never more than "
        "the lists before fusion hold: switch rag_hybrid_candidate_count.",
    ),
]
PerDocumentOption = Annotated[
    int, typer.Option("--per-document", help="Most passages of one document; 0: no bound.")
]
GroupOption = Annotated[
    bool,
    typer.Option(
        "--group", help="Show passages of one document together; --limit counts documents then."
    ),
]
PageOption = Annotated[
    int, typer.Option("--page", min=1, help="Page of the answer, of --limit passages each.")
]
ParentsOption = Annotated[
    bool,
    typer.Option(
        "--parents",
        help="Show the block each passage is a part of, in workspaces made with --child-tokens.",
    ),
]
CandidatesOption = Annotated[
    int,
    typer.Option(
        "--candidates",
        help="Length of each list before fusion, 1 to 200; by default as switch "
        "rag_hybrid_candidate_count says. Pages end where these lists do.",
    ),
]
HistoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--history",
        metavar="SPEAKER:TEXT",
        help=f"An earlier turn of the conversation; may be repeated, oldest first. {FORM}",
    ),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="CONDITION",
        help=f"What documents must fulfil; may be repeated, then all must hold. {FILTER_FORM}",
    ),
]
ThresholdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="RULE",
        help=f"What hits must reach; may be repeated, then all must hold. {THRESHOLD_FORM}",
    ),
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="NAME=VALUE",
        help="A fact that thresholds compare with; may be repeated. Typed as in --filter.",
    ),
]


def filter_of(expressions: Sequence[str] | None) -> Filter | None:
    """Returns the condition that all expressions hold; CommandError for one that is none."""
    try:
        return filter_from_expressions(expressions or [])
    except ValueError as error:
        raise CommandError(f"--filter: {error}", ExitCode.USAGE) from error


def facts_of(pairs: Sequence[str] | None) -> dict[str, MetadataValue]:
    """Returns the facts that thresholds compare with; CommandError for one that is none."""
    try:
        return metadata_from_pairs(pairs or [])
    except ValueError as error:
        raise CommandError(f"--context: {error}", ExitCode.USAGE) from error
