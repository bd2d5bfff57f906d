"""Typed facts about documents: text, numbers, truth values and moments."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from justesse.gateway.v1 import filters_pb2

MetadataValue: TypeAlias = str | float | bool | datetime
"""A fact. Integers are accepted as numbers; a moment must know its time zone."""

# Numbers travel as float64, which holds every integer up to here.
LARGEST_EXACT_INTEGER = 2**53


def timestamp_from(moment: datetime, name: str) -> Timestamp:
    """Encodes a moment; ValueError when `moment`, called `name` in the text, has no time zone."""
    if moment.tzinfo is None:
        raise ValueError(
            f"{name}: the moment {moment.isoformat()} has no time zone; "
            "say which one it is in, for example with tzinfo=datetime.UTC"
        )
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def moment_from(timestamp: Timestamp) -> datetime:
    """Decodes a moment, in UTC."""
    return timestamp.ToDatetime(tzinfo=UTC)


def metadata_message(name: str, value: MetadataValue) -> filters_pb2.MetadataValue:
    """Encodes one fact.

    Raises TypeError for a value of another type and ValueError for one that would change on its
    way; both name the field.
    """
    match value:
        case bool():
            return filters_pb2.MetadataValue(bool_value=value)
        case str():
            return filters_pb2.MetadataValue(string_value=value)
        case int() if abs(value) > LARGEST_EXACT_INTEGER:
            raise ValueError(
                f"metadata {name}: {value} is too large to be kept exactly; give it as text"
            )
        case int() | float():
            return filters_pb2.MetadataValue(number_value=value)
        case datetime():
            return filters_pb2.MetadataValue(time_value=timestamp_from(value, f"metadata {name}"))
        case _:
            raise TypeError(
                f"metadata {name}: {type(value).__name__} is not a type of metadata; "
                "use str, int, float, bool or datetime"
            )


def metadata_messages(
    metadata: Mapping[str, MetadataValue],
) -> dict[str, filters_pb2.MetadataValue]:
    """Encodes facts; TypeError and ValueError as in `metadata_message`."""
    return {name: metadata_message(name, value) for name, value in metadata.items()}


def metadata_from(
    messages: Mapping[str, filters_pb2.MetadataValue],
) -> dict[str, MetadataValue]:
    """Decodes facts, by name; a fact of a kind this client does not know is left out."""
    metadata: dict[str, MetadataValue] = {}
    for name in sorted(messages):
        match messages[name].WhichOneof("kind"):
            case "string_value":
                metadata[name] = messages[name].string_value
            case "number_value":
                metadata[name] = messages[name].number_value
            case "bool_value":
                metadata[name] = messages[name].bool_value
            case "time_value":
                metadata[name] = moment_from(messages[name].time_value)
            case None:
                continue
    return metadata
