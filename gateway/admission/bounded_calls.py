"""The calls that take a place among the queries, as the doors know them before they are read."""

from __future__ import annotations

_PACKAGE = "justesse.gateway.v1"

QUERY_METHODS = frozenset(
    {
        f"{_PACKAGE}.SearchService/SearchPassages",
        f"{_PACKAGE}.ExplanationService/ExplainSearch",
        f"{_PACKAGE}.ContextService/BuildContext",
        f"{_PACKAGE}.AnswerService/AnswerQuestion",
    }
)
QUERY_ROUTES = frozenset(
    ("POST", f"/v1/{name}")
    for name in ("search", "explain", "context", "answer", "chat/completions")
)
