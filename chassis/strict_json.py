"""JSON as the standard has it: no NaN, no Infinity, no number too large for a float64."""

from __future__ import annotations

import json
from typing import Any

import orjson


class NotJson(ValueError):  # noqa: N818 - says what the text is
    """The text is no JSON at all, or ends too early."""


class NonFiniteNumber(ValueError):  # noqa: N818 - says what the text holds
    """The text would be JSON but for NaN, Infinity or a number beyond float64."""


def parsed_json(body: bytes) -> Any:
    """Returns the value; raises NotJson or NonFiniteNumber."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if _is_lenient_json(body):
            raise NonFiniteNumber(str(error)) from None
        raise NotJson(str(error)) from None


def _is_lenient_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
