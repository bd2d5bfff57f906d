"""The root of the command line: errors become one line and an exit code, never a traceback."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import (
    CommandError,
    Failure,
    failure_of_call,
    failure_of_system,
    failure_of_usage,
    failure_of_value,
    write_failure,
)
from justesse.cli.output import abandon_output
from justesse.client import JustesseError

__all__ = ["CommandError", "CommandLine"]

# Typer exports this class by way of its subclass only.
_UsageError: Any = typer.BadParameter.__mro__[1]


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
        as_json = _json_wanted(sys.argv[1:] if args is None else args)
        failure: Failure | None = None
        outcome: Any = ExitCode.OK
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
                failure = Failure("interrupted", ExitCode.INTERRUPTED)
        except _UsageError as error:
            failure = failure_of_usage(error)
        except JustesseError as error:
            failure = failure_of_call(error)
        except CommandError as error:
            failure = Failure(str(error), error.code)
        except BrokenPipeError:
            abandon_output()
        except OSError as error:
            failure = failure_of_system(error)
        except ValueError as error:
            failure = failure_of_value(error)
        if failure is not None:
            write_failure(failure, as_json)
            outcome = failure.code
        sys.exit(outcome if isinstance(outcome, int) else ExitCode.OK)


def _json_wanted(arguments: Sequence[str]) -> bool:
    options = list(arguments)
    return "--json" in (options[: options.index("--")] if "--" in options else options)
