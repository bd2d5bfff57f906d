"""The command line run in this process against the fake gateway."""

import json
import re
from typing import Any

from typer.testing import CliRunner, Result

from justesse.cli.application import app
from tests.fakes.fake_gateway import GatewayState

RUNNER = CliRunner()


class CommandLine:
    """Runs commands in this process against the fake."""

    def __init__(self, address: str, state: GatewayState) -> None:
        self.address = address
        self.state = state

    def run(self, *arguments: str, width: int = 80, code: int = 0, answer: str = "") -> Result:
        """Runs one command and checks its exit code."""
        environment = {"JUSTESSE_ADDRESS": self.address, "COLUMNS": str(width)}
        result = RUNNER.invoke(app, list(arguments), env=environment, input=answer)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Runs one command with --json; its standard output is one JSON value."""
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def error(self, *arguments: str, code: int) -> str:
        """Runs one command that fails; its message is one line, and there is no result."""
        result = self.run(*arguments, code=code)
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        return result.stderr.strip()


def rows(text: str) -> list[list[str]]:
    """Splits the lines of a table into cells."""
    return [re.split(r"\s{2,}", row.strip()) for row in text.splitlines() if row.strip()]
