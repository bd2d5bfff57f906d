"""The calls that take a place among the queries, as the doors know them before they are read."""

from __future__ import annotations

_PACKAGE = "justesse.gateway.v1"

QUERY_METHODS = frozenset(
    {
        f"{_PACKAGE}.SearchService/SearchPassages",
        f"{_PACKAGE}.ExplanationService/ExplainSearch",
    }
)
QUERY_ROUTES = frozenset({("POST", "/v1/search"), ("POST", "/v1/explain")})
