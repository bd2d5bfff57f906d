"""Moments to and from the well-known timestamp."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidArgument

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
_SECOND_NS = 1_000_000_000


def to_timestamp(moment: datetime | None) -> Timestamp | None:
    """Writes a moment; one without a time zone is taken as UTC."""
    if moment is None:
        return None
    timestamp = Timestamp()
    write_moment(timestamp, moment)
    return timestamp


def write_moment(timestamp: Timestamp, moment: datetime) -> None:
    """Writes a moment; one without a time zone is taken as UTC."""
    since = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH
    timestamp.seconds = since.days * _DAY_S + since.seconds
    timestamp.nanos = since.microseconds * 1_000


def moment_from(timestamp: Timestamp, field: str) -> datetime:
    """Reads a moment in UTC; InvalidArgument outside the years 1 to 9999."""
    # `Timestamp.ToDatetime` takes three times as long, and every hit has a moment.
    try:
        moment = _EPOCH + timedelta(
            seconds=timestamp.seconds, microseconds=timestamp.nanos // 1_000
        )
    except OverflowError as error:
        raise _no_moment(timestamp, field) from error
    if not 0 <= timestamp.nanos < _SECOND_NS:
        raise _no_moment(timestamp, field)
    return moment


def _no_moment(timestamp: Timestamp, field: str) -> InvalidArgument:
    return InvalidArgument(
        f"{field} is not a moment between the years 1 and 9999: {timestamp.seconds} s and "
        f"{timestamp.nanos} ns",
        field=field,
    )
