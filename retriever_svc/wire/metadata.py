"""Typed facts by name."""

import math
from collections.abc import Mapping
from datetime import datetime

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import MetadataValue
from retriever_svc.wire.composed_texts import composed
from retriever_svc.wire.moments import moment_from, write_timestamp

_MAX_BYTES = 16 * 1024


def metadata_from(
    messages: Mapping[str, documents_pb2.MetadataValue], field: str
) -> dict[str, MetadataValue]:
    """Returns the values by name, names and texts in NFC; 16 kB in all. Raises InvalidArgument."""
    size = sum(len(name.encode()) + value.ByteSize() for name, value in messages.items())
    if size > _MAX_BYTES:
        raise InvalidArgument(
            f"{field} takes {size} bytes; at most {_MAX_BYTES} are taken", field=field
        )
    values: dict[str, MetadataValue] = {}
    for given, value in messages.items():
        name = composed(given)
        if name in values:
            raise InvalidArgument(
                f"{field} holds {name!r} twice, in two spellings of the same characters",
                field=field,
            )
        values[name] = metadata_value_from(value, f"{field}[{given!r}]")
    return values


def write_metadata_value(message: documents_pb2.MetadataValue, value: MetadataValue) -> None:
    """Writes one value into an empty message."""
    if isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, datetime):
        write_timestamp(message.time_value, value)
    else:
        message.number_value = value


def metadata_value_from(message: documents_pb2.MetadataValue, field: str) -> MetadataValue:
    """Returns one value, a text in NFC.

    Raises InvalidArgument where there is none, or no finite number.
    """
    match message.WhichOneof("kind"):
        case "string_value":
            return composed(message.string_value)
        case "bool_value":
            return message.bool_value
        case "time_value":
            return moment_from(message.time_value, field)
        case "number_value" if math.isfinite(message.number_value):
            return message.number_value
        case "number_value":
            raise InvalidArgument(f"{field} is not a finite number", field=field)
        case _:
            raise InvalidArgument(f"{field} has no value", field=field)
