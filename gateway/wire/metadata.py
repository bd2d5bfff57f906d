"""Typed facts to and from messages; the contracts of gateway and retriever hold equal copies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from chassis.errors import InvalidArgument
from gateway.documents import MetadataValue
from gateway.wire.moments import moment_from
from justesse.gateway.v1 import filters_pb2
from justesse.retriever.v1 import documents_pb2

AnyMetadataValue = filters_pb2.MetadataValue | documents_pb2.MetadataValue


def write_metadata_value(message: AnyMetadataValue, value: MetadataValue) -> None:
    """Sets the kind that fits the value's type."""
    match value:
        case bool():
            message.bool_value = value
        case int() | float():
            message.number_value = value
        case datetime():
            message.time_value.FromDatetime(value)
        case str():
            message.string_value = value


def metadata_value_from(message: AnyMetadataValue, field: str) -> MetadataValue:
    """Reads a value; InvalidArgument where none is set or a number is not finite."""
    match message.WhichOneof("kind"):
        case "string_value":
            return message.string_value
        case "bool_value":
            return message.bool_value
        case "time_value":
            return moment_from(message.time_value, field)
        case "number_value":
            if not math.isfinite(message.number_value):
                raise InvalidArgument(f"{field} must be a finite number", field=field)
            return message.number_value
        case _:
            raise InvalidArgument(
                f"{field} holds no value: set text, number, truth value or moment", field=field
            )


def metadata_from(
    messages: Mapping[str, filters_pb2.MetadataValue] | Mapping[str, documents_pb2.MetadataValue],
    field: str,
) -> dict[str, MetadataValue]:
    """Reads named values; errors name `field.name`."""
    return {
        name: metadata_value_from(message, f"{field}.{name}") for name, message in messages.items()
    }
