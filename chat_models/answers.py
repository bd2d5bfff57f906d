"""Answers as a vendor sent them, read but not yet cleaned; and what is no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chassis.strict_json import NonFiniteNumber, NotJson, parsed_json
from chassis.vendor_errors import VendorGarbled, VendorUnusable
from chat_models.chat import FinishReason


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A whole answer, or a piece of one.

    What a piece does not say is None: why the model stopped, the tokens it read and wrote.
    """

    text: str = ""
    finish_reason: FinishReason | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def object_of(vendor: str, value: Any) -> dict[str, Any]:
    """Returns the JSON object of an answer; VendorUnusable if it is none, or tells of an error.

    Some vendors and proxies send an error under a good status.
    """
    if not isinstance(value, dict):
        raise VendorUnusable(vendor, "answered with something else than a JSON object")
    if value.get("error"):
        raise VendorUnusable(vendor, "answered with an error under a good status")
    return value


def object_in(vendor: str, line: bytes) -> dict[str, Any]:
    """Reads one JSON object of a stream; VendorGarbled if it is no JSON."""
    try:
        value = parsed_json(line)
    except (NotJson, NonFiniteNumber) as error:
        raise VendorGarbled(vendor, f"sent a piece that is not JSON: {error}") from error
    return object_of(vendor, value)


def token_count(value: Any) -> int | None:
    """Returns a count that a vendor gave, None where it gave none that can be one."""
    return value if type(value) is int and value >= 0 else None
