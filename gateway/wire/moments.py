"""Moments to and from the well-known timestamp."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidArgument


def to_timestamp(moment: datetime | None) -> Timestamp | None:
    """Writes a moment; one without a time zone is taken as UTC."""
    if moment is None:
        return None
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def moment_from(timestamp: Timestamp, field: str) -> datetime:
    """Reads a moment in UTC; InvalidArgument outside the years 1 to 9999."""
    try:
        return timestamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"{field} is not a moment between the years 1 and 9999: {timestamp.seconds} s",
            field=field,
        ) from error
