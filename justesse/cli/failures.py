"""Failures of commands: one line for people, or one JSON object for programs, and an exit code."""

from dataclasses import dataclass
from typing import Any

import orjson
import typer

from justesse.cli.exit_codes import ExitCode, exit_code_of
from justesse.cli.output import one_line
from justesse.cli.program import program_name
from justesse.cli.system_errors import line_of
from justesse.client import (
    FieldViolation,
    JustesseError,
    UnauthenticatedError,
    UnavailableError,
)
from justesse.client.destination import KEY_FILE_VARIABLE, KEY_VARIABLE


class CommandError(Exception):
    """A command cannot do what it was asked; the text says why and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.OTHER) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command ended, and with which exit code."""

    message: str
    """One line."""
    code: ExitCode
    status: str = ""
    """Canonical status of a failed call ("NOT_FOUND"); the four below belong to calls, too."""
    reason: str = ""
    request_id: str = ""
    violations: tuple[FieldViolation, ...] = ()
    retry_after_s: float | None = None


def write_failure(failure: Failure, as_json: bool) -> None:
    """Writes a failure to standard error."""
    if not as_json:
        interrupted = failure.code is ExitCode.INTERRUPTED
        message = one_line(failure.message)
        typer.echo(message if interrupted else f"error: {message}", err=True)
        return
    content = {
        "message": one_line(failure.message),
        "exit_code": int(failure.code),
        "status": failure.status,
        "reason": failure.reason,
        "request_id": failure.request_id,
        "violations": failure.violations,
        "retry_after_s": failure.retry_after_s,
    }
    typer.echo(orjson.dumps({"error": content}).decode(), err=True)


def failure_of_call(error: JustesseError) -> Failure:
    """Describes a call that failed."""
    return Failure(
        error_line(error),
        exit_code_of(error),
        error.status,
        error.reason,
        error.request_id,
        error.violations,
        error.retry_after_s,
    )


def failure_of_system(error: OSError) -> Failure:
    """Describes what the system refused."""
    return Failure(line_of(error), ExitCode.OTHER)


def failure_of_value(error: ValueError) -> Failure:
    """Describes a value that the client cannot send."""
    if isinstance(error, UnicodeEncodeError):
        shown = error.object.encode("utf-8", "replace").decode()
        return Failure(f"{shown!r} holds bytes that are not UTF-8", ExitCode.USAGE)
    return Failure(str(error), ExitCode.USAGE)


def failure_of_usage(error: Any) -> Failure:
    """Describes a command line that cannot be understood."""
    path = error.ctx.command_path if error.ctx else "justesse"
    message = error.format_message()
    if "unexpected extra argument" in message:
        message += "; put a text of several words in quotes"
    return Failure(f"{message} (see: {path} --help)", ExitCode.USAGE)


def error_line(error: JustesseError) -> str:
    """Says in one line what went wrong, and what to do where that is known."""
    parts = [error.message]
    parts += [
        f"{violation.field}: {violation.description}"
        for violation in error.violations
        if violation.description not in error.message
    ]
    if isinstance(error, UnavailableError) and not error.reason:
        parts.append(
            f"start a mesh with '{program_name()} up', or name another address with --address"
        )
    if isinstance(error, UnauthenticatedError):
        parts.append(f"name one with --api-key-file, {KEY_FILE_VARIABLE} or {KEY_VARIABLE}")
    if error.retry_after_s is not None:
        parts.append(f"try again in {error.retry_after_s:g} s")
    labels = [error.reason] if error.reason and error.reason != error.status else []
    if exit_code_of(error) is ExitCode.OTHER:
        labels.append(f"request {error.request_id}")
    return "; ".join(parts) + (f" ({', '.join(labels)})" if labels else "")
