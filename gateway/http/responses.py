"""JSON answers."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response


class JsonResponse(Response):
    """Renders a body model, leaving out fields that are not set, or plain data."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Returns the JSON text as UTF-8."""
        if isinstance(content, BaseModel):
            return orjson.dumps(content.model_dump(mode="json", exclude_none=True))
        return orjson.dumps(content)
