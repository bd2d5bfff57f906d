"""The end of a process's log, for people: JSON lines told in words, small talk left out."""

from collections.abc import Sequence
from typing import Any

import orjson

_SMALL_TALK = ("debug", "info")


def readable_lines(lines: Sequence[str]) -> list[str]:
    """Returns what the lines say of a failure; all that they say where none of them does."""
    entries = [(line, _entry_in(line)) for line in lines if line.strip()]
    telling = [each for each in entries if each[1].get("level") not in _SMALL_TALK]
    return [_in_words(entry) if entry else line for line, entry in telling or entries]


def _entry_in(line: str) -> dict[str, Any]:
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) and "event" in content else {}


def _in_words(entry: dict[str, Any]) -> str:
    """Writes event and cause; of a traceback its last line, which names the cause."""
    causes = [entry.get(name) for name in ("error", "reason", "detail")]
    parts = [str(part) for part in (entry["event"], *causes) if part]
    trace = str(entry.get("exception") or "").strip().splitlines()
    return ": ".join([*parts, *trace[-1:]])
