"""Grants as the database keeps them: JSON.

A newer build may have written what this one cannot read. Then the key grants nothing at all: a
grant that is left out could be the one that narrows another.
"""

from __future__ import annotations

from typing import Any

import structlog

from gateway.access.grants import NOTHING, Action, Grant, Grants
from gateway.http.models.filters import FilterBody, filter_from, to_filter_body

_log = structlog.get_logger("gateway.access")


def to_grants_column(grants: Grants) -> list[dict[str, Any]]:
    """Writes grants."""
    return [
        {
            "workspace": grant.workspace,
            "actions": sorted(action.value for action in grant.actions),
            "filter": None
            if grant.filter is None
            else to_filter_body(grant.filter).model_dump(mode="json", exclude_none=True),
        }
        for grant in grants.by_workspace.values()
    ]


def grants_from_column(column: Any) -> Grants:
    """Reads grants."""
    try:
        return Grants.of_all(*(_grant_from(entry) for entry in column))
    except (KeyError, TypeError, ValueError) as error:
        _log.error("the grants of a key cannot be read: it grants nothing", error=repr(error)[:200])
        return NOTHING


def _grant_from(entry: dict[str, Any]) -> Grant:
    bound = entry["filter"]
    return Grant(
        str(entry["workspace"]),
        frozenset(Action(action) for action in entry["actions"]),
        None if bound is None else filter_from(FilterBody.model_validate(bound)),
    )
