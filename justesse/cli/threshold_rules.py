"""Thresholds as written on a command line, for example `distance<=0.75 same week`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.filter_expressions import filter_from_expressions
from justesse.client import Justesse, Threshold

FORM = (
    "similarity>=0.65, distance<=0.35 or terms>=0.3 (the share of the question's terms), then as "
    "needed: 'or terms>=0.3' for hits without a vector, 'in SPACE' (needed where the workspace "
    "has several), 'same NAME' or 'other NAME' (judges documents whose metadata NAME equals, or "
    "does not equal, that of --context), 'if CONDITION' as in --filter."
)

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_RULE = re.compile(
    rf"""
    (?P<score>similarity\s*>=|distance\s*<=|terms\s*>=)\s*(?P<bound>{_NUMBER})
    (?:\s+or\s+terms\s*>=\s*(?P<terms>{_NUMBER}))?
    (?:\s+in\s+(?P<space>\S+))?
    (?:\s+(?P<compared>same|other)\s+(?P<name>\S+))?
    (?:\s+if\s+(?P<condition>.+))?
    """,
    re.VERBOSE | re.DOTALL,
)


def thresholds_of(rules: Sequence[str]) -> list[Threshold]:
    """Reads rules; their space is empty where it was not named. CommandError names a bad one."""
    return [_threshold_from(rule) for rule in rules]


def with_spaces(
    thresholds: Sequence[Threshold], workspace: str, justesse: Justesse, timeout: float
) -> list[Threshold]:
    """Names the workspace's space where a rule on a cosine names none.

    CommandError where the workspace has several spaces, or none yet.
    """
    if not any(_wants_space(threshold) for threshold in thresholds):
        return list(thresholds)
    spaces = [
        space.space_id for space in justesse.describe_workspace(workspace, timeout=timeout).spaces
    ]
    if len(spaces) != 1:
        known = f"one of {', '.join(spaces)}" if spaces else "there is none yet"
        raise CommandError(
            f"--threshold: workspace {workspace} has {len(spaces)} vector spaces; add 'in SPACE' "
            f"({known})",
            ExitCode.USAGE,
        )
    return [
        replace(threshold, space_id=spaces[0]) if _wants_space(threshold) else threshold
        for threshold in thresholds
    ]


def _wants_space(threshold: Threshold) -> bool:
    bounded = threshold.min_similarity is not None or threshold.max_distance is not None
    return bounded and not threshold.space_id


def _threshold_from(rule: str) -> Threshold:
    read = _RULE.fullmatch(rule.strip())
    if read is None:
        raise CommandError(f"--threshold: {rule!r} is no rule; write {FORM}", ExitCode.USAGE)
    score, bound = read["score"].rstrip("<>= "), float(read["bound"])
    if score == "terms" and (read["terms"] or read["space"]):
        raise CommandError(
            f"--threshold: {rule!r} judges by terms alone, which need no space", ExitCode.USAGE
        )
    terms = bound if score == "terms" else float(read["terms"]) if read["terms"] else None
    try:
        condition = filter_from_expressions([read["condition"]] if read["condition"] else [])
    except ValueError as error:
        raise CommandError(f"--threshold: {error}", ExitCode.USAGE) from error
    return Threshold(
        space_id=read["space"] or "",
        min_similarity=bound if score == "similarity" else None,
        max_distance=bound if score == "distance" else None,
        min_term_share=terms,
        condition=condition,
        context_field=read["name"] or "",
        context_differs=read["compared"] == "other",
    )
