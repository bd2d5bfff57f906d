"""Moments as the store holds them: whole microseconds since 1970 in UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds_from(moment: datetime) -> int:
    """Returns the moment, which must know its time zone, in microseconds."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_from(microseconds: int) -> datetime:
    """Returns the moment in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)
