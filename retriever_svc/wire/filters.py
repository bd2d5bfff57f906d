"""Conditions on documents, read and checked."""

from collections.abc import Callable, Sequence

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2, search_pb2
from retriever_svc.documents import MetadataValue
from retriever_svc.filters import (
    METADATA_PREFIX,
    TYPE_BY_FIELD,
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    ValueType,
    type_of,
)
from retriever_svc.wire.composed_texts import composed
from retriever_svc.wire.field_checks import checked_count
from retriever_svc.wire.metadata import metadata_value_from

_MAX_DEPTH = 8
_MAX_PARTS = 100
_MAX_VALUES = 1_000
# Conditions of one filter in all: what one search may cost.
_MAX_CONDITIONS = 1_000


def filter_from(message: search_pb2.Filter, place: str) -> Filter:
    """Returns the condition that stands at `place` of a request.

    Raises InvalidArgument for a condition without content, an unknown field, a value of a type
    the field cannot have, and for too many or too deeply nested parts.
    """
    return _Reader().read(message, place, 1)


class _Reader:
    def __init__(self) -> None:
        self._condition_count = 0

    def read(self, message: search_pb2.Filter, place: str, depth: int) -> Filter:
        if depth > _MAX_DEPTH:
            raise InvalidArgument(f"{place} is nested deeper than {_MAX_DEPTH}", field=place)
        self._condition_count += 1
        if self._condition_count > _MAX_CONDITIONS:
            raise InvalidArgument(
                f"{place}: the filter has more than {_MAX_CONDITIONS} conditions; use one_of for "
                "many values of one field",
                field=place,
            )
        kind = message.WhichOneof("condition")
        match kind:
            case "all_of":
                return AllOf(self._parts(message.all_of, f"{place}.all_of", depth))
            case "any_of":
                return AnyOf(self._parts(message.any_of, f"{place}.any_of", depth))
            case "negation":
                return Negation(self.read(message.negation, f"{place}.negation", depth + 1))
            case None:
                raise InvalidArgument(f"{place} holds no condition", field=place)
            case _:
                return _READERS[kind](message, f"{place}.{kind}")

    def _parts(self, group: search_pb2.FilterGroup, place: str, depth: int) -> tuple[Filter, ...]:
        place = f"{place}.filters"
        checked_count(len(group.filters), place, low=1, high=_MAX_PARTS)
        return tuple(
            self.read(part, f"{place}[{index}]", depth + 1)
            for index, part in enumerate(group.filters)
        )


def _equals_from(message: search_pb2.Filter, place: str) -> Filter:
    field = _checked_field(message.equals.field, f"{place}.field")
    value = metadata_value_from(message.equals.value, f"{place}.value")
    return Equals(field, _of_fitting_type(value, field, f"{place}.value"))


def _one_of_from(message: search_pb2.Filter, place: str) -> Filter:
    field = _checked_field(message.one_of.field, f"{place}.field")
    given: Sequence[documents_pb2.MetadataValue] = message.one_of.values
    checked_count(len(given), f"{place}.values", low=1, high=_MAX_VALUES)
    values = []
    for index, value in enumerate(given):
        value_place = f"{place}.values[{index}]"
        read = metadata_value_from(value, value_place)
        values.append(_of_fitting_type(read, field, value_place))
    return OneOf(field, tuple(values))


def _range_from(message: search_pb2.Filter, place: str) -> Filter:
    bounds = message.range
    field = _checked_field(bounds.field, f"{place}.field")
    given = {
        name: metadata_value_from(getattr(bounds, name), f"{place}.{name}")
        for name in ("at_least", "less_than")
        if bounds.HasField(name)
    }
    if not given:
        raise InvalidArgument(f"{place} needs at_least, less_than or both", field=place)
    for name, value in given.items():
        _of_fitting_type(value, field, f"{place}.{name}")
        if type_of(value) is ValueType.TRUTH:
            raise InvalidArgument(
                f"{place}.{name}: truth values of {field} have no order; use equals",
                field=f"{place}.{name}",
            )
    if len({type_of(value) for value in given.values()}) > 1:
        raise InvalidArgument(f"{place}: the bounds of {field} differ in type", field=place)
    return InRange(field, given.get("at_least"), given.get("less_than"))


def _field_exists_from(message: search_pb2.Filter, place: str) -> Filter:
    return FieldExists(_checked_field(message.field_exists, place))


_READERS: dict[str, Callable[[search_pb2.Filter, str], Filter]] = {
    "equals": _equals_from,
    "one_of": _one_of_from,
    "range": _range_from,
    "field_exists": _field_exists_from,
}


def _checked_field(field: str, place: str) -> str:
    is_metadata = field.startswith(METADATA_PREFIX) and field != METADATA_PREFIX
    if not is_metadata and field not in TYPE_BY_FIELD:
        raise InvalidArgument(
            f"{place} is {field!r}; expected {METADATA_PREFIX}NAME or one of "
            f"{', '.join(TYPE_BY_FIELD)}",
            field=place,
        )
    return composed(field)


def _of_fitting_type(value: MetadataValue, field: str, place: str) -> MetadataValue:
    expected = TYPE_BY_FIELD.get(field, type_of(value))
    if type_of(value) is not expected:
        raise InvalidArgument(
            f"{place} is a {type_of(value)}; {field} is compared with a {expected}", field=place
        )
    return value
