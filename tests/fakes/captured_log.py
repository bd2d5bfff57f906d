"""Log lines kept in memory."""

from __future__ import annotations

import io
import json
from typing import Any


class CapturedLog:
    """The JSON lines that were logged."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """All lines, parsed."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def named(self, event: str) -> list[dict[str, Any]]:
        """The lines of this event."""
        return [line for line in self.lines if line["event"] == event]
