"""Conditions and thresholds to and from messages; gateway and retriever hold equal copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from chassis.errors import InvalidArgument
from gateway.documents import MetadataValue
from gateway.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    Threshold,
)
from gateway.wire.metadata import AnyMetadataValue, metadata_value_from, write_metadata_value
from justesse.gateway.v1 import filters_pb2
from justesse.retriever.v1 import search_pb2

AnyFilter = filters_pb2.Filter | search_pb2.Filter
AnyFilterGroup = filters_pb2.FilterGroup | search_pb2.FilterGroup
AnyThreshold = filters_pb2.Threshold | search_pb2.Threshold


def write_filter(message: AnyFilter, condition: Filter) -> None:
    """Writes a condition."""
    match condition:
        case AllOf():
            _write_parts(message.all_of, condition.filters)
        case AnyOf():
            _write_parts(message.any_of, condition.filters)
        case Negation():
            write_filter(message.negation, condition.filter)
        case FieldExists():
            message.field_exists = condition.field
        case Equals():
            message.equals.field = condition.field
            write_metadata_value(message.equals.value, condition.value)
        case OneOf():
            message.one_of.field = condition.field
            for value in condition.values:
                write_metadata_value(message.one_of.values.add(), value)
        case InRange():
            _write_range(message.range, condition)


def _write_parts(group: AnyFilterGroup, parts: Iterable[Filter]) -> None:
    for part in parts:
        write_filter(group.filters.add(), part)


def _write_range(message: filters_pb2.Range | search_pb2.Range, bounds: InRange) -> None:
    message.field = bounds.field
    if bounds.at_least is not None:
        write_metadata_value(message.at_least, bounds.at_least)
    if bounds.less_than is not None:
        write_metadata_value(message.less_than, bounds.less_than)


def filter_from(message: AnyFilter, field: str = "filter") -> Filter:
    """Reads a condition; InvalidArgument names a part without condition or without value."""
    kind = message.WhichOneof("condition")
    if kind is None:
        raise InvalidArgument(f"{field} holds no condition", field=field)
    return _READERS[kind](message, f"{field}.{kind}")


def _equals_from(message: AnyFilter, field: str) -> Filter:
    value = metadata_value_from(message.equals.value, f"{field}.value")
    return Equals(message.equals.field, value)


def _one_of_from(message: AnyFilter, field: str) -> Filter:
    values: Sequence[AnyMetadataValue] = message.one_of.values
    return OneOf(
        message.one_of.field,
        tuple(
            metadata_value_from(value, f"{field}.values[{index}]")
            for index, value in enumerate(values)
        ),
    )


def _range_from(message: AnyFilter, field: str) -> Filter:
    bounds = message.range
    at_least: MetadataValue | None = None
    less_than: MetadataValue | None = None
    if bounds.HasField("at_least"):
        at_least = metadata_value_from(bounds.at_least, f"{field}.at_least")
    if bounds.HasField("less_than"):
        less_than = metadata_value_from(bounds.less_than, f"{field}.less_than")
    return InRange(bounds.field, at_least, less_than)


def _field_exists_from(message: AnyFilter, _field: str) -> Filter:
    return FieldExists(message.field_exists)


def _all_of_from(message: AnyFilter, field: str) -> Filter:
    return AllOf(_parts_from(message.all_of, field))


def _any_of_from(message: AnyFilter, field: str) -> Filter:
    return AnyOf(_parts_from(message.any_of, field))


def _negation_from(message: AnyFilter, field: str) -> Filter:
    return Negation(filter_from(message.negation, field))


_READERS: dict[str, Callable[[AnyFilter, str], Filter]] = {
    "equals": _equals_from,
    "one_of": _one_of_from,
    "range": _range_from,
    "field_exists": _field_exists_from,
    "all_of": _all_of_from,
    "any_of": _any_of_from,
    "negation": _negation_from,
}


def _parts_from(group: AnyFilterGroup, field: str) -> tuple[Filter, ...]:
    parts: Sequence[AnyFilter] = group.filters
    return tuple(filter_from(part, f"{field}.filters[{index}]") for index, part in enumerate(parts))


def write_threshold(message: AnyThreshold, threshold: Threshold) -> None:
    """Writes a threshold."""
    message.space_id = threshold.space_id
    message.context_field = threshold.context_field
    if threshold.min_similarity is not None:
        message.min_similarity = threshold.min_similarity
    if threshold.max_distance is not None:
        message.max_distance = threshold.max_distance
    if threshold.min_term_share is not None:
        message.min_term_share = threshold.min_term_share
    message.context_differs = threshold.context_differs
    if threshold.condition is not None:
        write_filter(message.condition, threshold.condition)


def threshold_from(message: AnyThreshold, field: str) -> Threshold:
    """Reads a threshold."""
    bound = message.WhichOneof("bound")
    return Threshold(
        space_id=message.space_id,
        min_similarity=message.min_similarity if bound == "min_similarity" else None,
        max_distance=message.max_distance if bound == "max_distance" else None,
        condition=(
            filter_from(message.condition, f"{field}.condition")
            if message.HasField("condition")
            else None
        ),
        context_field=message.context_field,
        min_term_share=(
            round(message.min_term_share, 6) if message.HasField("min_term_share") else None
        ),
        context_differs=message.context_differs,
    )
