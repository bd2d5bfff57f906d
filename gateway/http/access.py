"""The guard of the HTTP door: checks a request by its head, before any of its body is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from starlette.datastructures import QueryParams
from starlette.routing import BaseRoute, Mount, compile_path
from starlette.types import Scope

from chassis.errors import InvalidArgument
from gateway.access.access import Access
from gateway.access.call_access import require_workspace
from gateway.access.needs import ROUTE_NEEDS, Need, Reach

_HEADER = b"authorization"
_UNKNOWN_ROUTE = Need(Reach.ANY_KEY)
"""Who has no key does not learn which routes there are."""

_METHOD_OF = {"HEAD": "GET"}


class RouteGuard:
    """Checks requests to the routes of an application by the table of needs.

    No path fits two templates of the table, so the one found here is the one that is served.
    """

    def __init__(self, access: Access, routes: Sequence[BaseRoute]) -> None:
        """Raises LookupError for a route that stands in no table: nobody could be let in to it."""
        missing = set(templates_of(routes)) - ROUTE_NEEDS.keys()
        if missing:
            raise LookupError(f"gateway.access.needs names no grant for {sorted(missing)}")
        self._access = access
        self._needs: dict[str, list[tuple[re.Pattern[str], Need]]] = {}
        for (method, template), need in ROUTE_NEEDS.items():
            pattern = compile_path(template)[0]
            self._needs.setdefault(method, []).append((pattern, need))

    async def admit(self, scope: Scope) -> None:
        """Checks key and grants; raises as `Access.admit` and `CallAccess.check_workspace` do.

        A workspace that only the body names is checked by the route, by `require_workspace`.
        """
        need, path_params = self._need_of(scope["method"], scope["path"])
        await self._access.admit(_authorizations(scope["headers"]), need)
        if need.reach is not Reach.WORKSPACE:
            return
        kind, _, name = need.place.partition(" ")
        if kind == "path":
            require_workspace(path_params[name])
        elif kind == "query":
            # A missing one is refused by the route.
            for workspace in _named_once(scope, name):
                require_workspace(workspace)

    def during(self) -> AbstractContextManager[None]:
        """Ends the work when its key ends."""
        return self._access.during()

    def _need_of(self, method: str, path: str) -> tuple[Need, Mapping[str, str]]:
        for pattern, need in self._needs.get(_METHOD_OF.get(method, method), ()):
            if match := pattern.match(path):
                return need, match.groupdict()
        return _UNKNOWN_ROUTE, {}


def templates_of(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yields method and template of every route, those of included routers among them."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from templates_of(included.routes)
        elif isinstance(route, Mount):
            yield "GET", f"{route.path}/{{path:path}}"
        else:
            # A route of another kind has no such attributes: better no start than an open door.
            methods, path = route.methods, route.path  # type: ignore[attr-defined]
            yield from {(_METHOD_OF.get(method, method), path) for method in methods}


def _authorizations(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name.lower() == _HEADER]


def _named_once(scope: Scope, name: str) -> list[str]:
    named = QueryParams(scope["query_string"]).getlist(name)
    if len(named) > 1:
        raise InvalidArgument(f"{name} is given {len(named)} times; give it once", field=name)
    return named
