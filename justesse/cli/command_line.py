"""The root of the command line: errors become one line and an exit code, never a traceback."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from justesse.cli.exit_codes import ExitCode, exit_code_of
from justesse.cli.output import abandon_output, one_line
from justesse.client import JustesseError, UnavailableError

# Typer exports this class by way of its subclass only.
_UsageError: Any = typer.BadParameter.__mro__[1]


class CommandError(Exception):
    """A command cannot do what it was asked; the text says why and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.OTHER) -> None:
        super().__init__(message)
        self.code = code


class CommandLine(TyperGroup):
    """Runs a command and turns whatever ends it into an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command of `args` and exits."""
        try:
            outcome = super().main(
                args=args,
                prog_name="justesse",
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            if outcome == ExitCode.INTERRUPTED:
                typer.echo("interrupted", err=True)
        except _UsageError as error:
            outcome = _refused(error)
        except JustesseError as error:
            outcome = _failed(error_line(error), exit_code_of(error))
        except CommandError as error:
            outcome = _failed(str(error), error.code)
        except BrokenPipeError:
            abandon_output()
            outcome = ExitCode.OK
        except OSError as error:
            outcome = _failed(str(error), ExitCode.OTHER)
        sys.exit(outcome if isinstance(outcome, int) else ExitCode.OK)


def error_line(error: JustesseError) -> str:
    """Says in one line what went wrong, and what to do where that is known."""
    parts = [error.message]
    parts += [
        f"{violation.field}: {violation.description}"
        for violation in error.violations
        if violation.description not in error.message
    ]
    if isinstance(error, UnavailableError) and not error.reason:
        parts.append("start a mesh with 'justesse up', or name another address with --address")
    if error.retry_after_s is not None:
        parts.append(f"try again in {error.retry_after_s:g} s")
    labels = [error.reason] if error.reason and error.reason != error.status else []
    if exit_code_of(error) is ExitCode.OTHER:
        labels.append(f"request {error.request_id}")
    return "; ".join(parts) + (f" ({', '.join(labels)})" if labels else "")


def _refused(error: Any) -> ExitCode:
    path = error.ctx.command_path if error.ctx else "justesse"
    return _failed(f"{error.format_message()} (see: {path} --help)", ExitCode.USAGE)


def _failed(message: str, code: ExitCode) -> ExitCode:
    typer.echo(f"error: {one_line(message)}", err=True)
    return code
