"""What the gateway knows of a workspace, as it stands in an archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from chassis.errors import InvalidArgument
from gateway.glossary.entry import GlossaryEntry


@dataclass(frozen=True, slots=True)
class WorkspaceFacts:
    """The glossary of a workspace, and its overrides of switches as they are written, by key."""

    glossary: tuple[GlossaryEntry, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)


def facts_to_json(facts: WorkspaceFacts) -> bytes:
    """Returns the facts as JSON, equal bytes for equal facts."""
    return orjson.dumps(
        {
            "glossary": [
                {"term": entry.term, "synonyms": entry.synonyms} for entry in facts.glossary
            ],
            "switch_overrides": dict(facts.overrides),
        },
        option=orjson.OPT_SORT_KEYS,
    )


def facts_from_json(data: bytes) -> WorkspaceFacts:
    """Returns the facts; InvalidArgument for JSON that does not hold them.

    What the values may be is for glossary and switches to say.
    """
    try:
        given = orjson.loads(data)
        return WorkspaceFacts(
            tuple(_entry(entry) for entry in given["glossary"]),
            {_text(key): _text(value) for key, value in given["switch_overrides"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidArgument(
            "the archive's glossary and switches cannot be read", reason="ARCHIVE_DAMAGED"
        ) from error


def _entry(entry: Mapping[str, object]) -> GlossaryEntry:
    synonyms = entry["synonyms"]
    if not isinstance(synonyms, list):
        raise TypeError("synonyms are no list")
    return GlossaryEntry(_text(entry["term"]), tuple(map(_text, synonyms)))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
