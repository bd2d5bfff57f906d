"""What the exit code of a command says."""

from enum import IntEnum

from justesse.client import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidRequestError,
    JustesseError,
    NotFoundError,
    TimeoutExceededError,
    UnavailableError,
)


class ExitCode(IntEnum):
    """Exit codes, the same for every command."""

    OK = 0
    SOME_FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    INVALID = 4
    UNAVAILABLE = 5
    TIMED_OUT = 6
    OTHER = 7
    INTERRUPTED = 130
    """Ctrl-C, as shells count it."""


EXPLANATION = (
    "Exit codes: 0 done; 1 a part failed; 2 wrong usage; 3 not found; 4 invalid request; "
    "5 unavailable; 6 timed out; 7 any other failure; 130 interrupted."
)

_CODES: tuple[tuple[type[JustesseError], ExitCode], ...] = (
    (NotFoundError, ExitCode.NOT_FOUND),
    (InvalidRequestError, ExitCode.INVALID),
    (AlreadyExistsError, ExitCode.INVALID),
    (FailedPreconditionError, ExitCode.INVALID),
    (UnavailableError, ExitCode.UNAVAILABLE),
    (TimeoutExceededError, ExitCode.TIMED_OUT),
)


def exit_code_of(error: JustesseError) -> ExitCode:
    """Returns the exit code for a failed call."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.OTHER)
