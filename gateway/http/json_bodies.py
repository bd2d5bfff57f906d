"""JSON bodies as the standard has them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from chassis.strict_json import NonFiniteNumber, NotJson, parsed_json


class StrictJsonRoute(APIRoute):
    """A route that takes no NaN, no half of a surrogate pair, and no nesting without end."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler, reading bodies strictly."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictJsonRequest(request.scope, request.receive))

        return handle_strictly


class _StrictJsonRequest(Request):
    async def json(self) -> Any:
        try:
            return parsed_json(await self.body())
        except (NotJson, NonFiniteNumber) as error:
            raise HTTPException(400, f"the body is no JSON: {error}") from error
