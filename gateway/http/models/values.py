"""Typed facts and enumerations in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
)

from gateway.documents import MetadataValue

Chosen = TypeVar("Chosen", bound=Enum)


class RequestBody(BaseModel):
    """A body that callers send; a field it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class TimeValue(RequestBody):
    """A moment among typed facts."""

    time_value: AwareDatetime = Field(description="RFC 3339 with time zone")


FiniteNumber = Annotated[float, Field(strict=True, allow_inf_nan=False)]

FactBody = StrictBool | FiniteNumber | StrictStr | TimeValue
"""A typed fact: true or false, a number, a text, or {"time_value": "2024-05-01T00:00:00Z"}."""


def fact_from(body: FactBody) -> MetadataValue:
    """Reads a typed fact."""
    return body.time_value if isinstance(body, TimeValue) else body


def facts_from(bodies: Mapping[str, FactBody]) -> dict[str, MetadataValue]:
    """Reads named facts."""
    return {name: fact_from(body) for name, body in bodies.items()}


def to_fact(value: MetadataValue) -> FactBody:
    """Writes a typed fact."""
    return TimeValue(time_value=value) if isinstance(value, datetime) else value


def to_facts(values: Mapping[str, MetadataValue]) -> dict[str, FactBody]:
    """Writes named facts."""
    return {name: to_fact(value) for name, value in values.items()}


def in_upper_case(value: Any) -> Any:
    """Lets names of enumerations be written in any case."""
    return value.upper() if isinstance(value, str) else value


UpperCase = BeforeValidator(in_upper_case)
