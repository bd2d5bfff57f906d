"""Moments: protobuf timestamps and aware datetimes, exact to the microsecond."""

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidArgument

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_from(message: Timestamp, field: str) -> datetime:
    """Returns the moment in UTC. Raises InvalidArgument outside of the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)
    except OverflowError as error:
        raise InvalidArgument(
            f"{field} is no moment between the years 1 and 9999", field=field
        ) from error


def timestamp_from(moment: datetime) -> Timestamp:
    """Returns the message of an aware moment."""
    message = Timestamp()
    write_timestamp(message, moment)
    return message


def write_timestamp(message: Timestamp, moment: datetime) -> None:
    """Writes an aware moment into an empty message."""
    passed = moment - _EPOCH
    message.seconds = passed.days * 86_400 + passed.seconds
    message.nanos = passed.microseconds * 1_000
