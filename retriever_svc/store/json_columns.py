"""Lists and typed values as the store holds them in JSON columns.

Metadata is `{name: [kind, value]}` with kinds "string", "number", "boolean" and "moment"
(microseconds), so that a type survives and conditions can be asked in SQL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import orjson

from retriever_svc.documents import MetadataValue
from retriever_svc.fusion_settings import FusionSettings
from retriever_svc.store.moments import microseconds_from, moment_from


def json_from_words(words: Sequence[str]) -> str:
    """Encodes a list of texts."""
    return orjson.dumps(list(words)).decode()


def words_from_json(encoded: str) -> tuple[str, ...]:
    """Decodes a list of texts."""
    return tuple(orjson.loads(encoded)) if encoded != "[]" else ()


def json_from_metadata(metadata: Mapping[str, MetadataValue]) -> str:
    """Encodes typed values by name."""
    return orjson.dumps({name: encoded_value(value) for name, value in metadata.items()}).decode()


def metadata_from_json(encoded: str) -> dict[str, MetadataValue]:
    """Decodes typed values by name."""
    if encoded == "{}":
        return {}
    return {name: decoded_value(*pair) for name, pair in orjson.loads(encoded).items()}


def json_from_value(value: MetadataValue) -> str:
    """Encodes one typed value as it stands in encoded metadata."""
    return orjson.dumps(encoded_value(value)).decode()


def kind_of(value: MetadataValue) -> str:
    """Returns the kind that encoded metadata give the value."""
    return encoded_value(value)[0]


def json_from_fusion(settings: FusionSettings) -> str:
    """Encodes the settings that are not the defaults."""
    defaults = asdict(FusionSettings())
    given = asdict(settings)
    return orjson.dumps(
        {name: value for name, value in given.items() if value != defaults[name]}
    ).decode()


def fusion_from_json(encoded: str) -> FusionSettings:
    """Decodes settings; what is missing has its default."""
    return FusionSettings(**orjson.loads(encoded))


def encoded_value(value: MetadataValue) -> tuple[str, str | float | bool]:
    """Returns kind and value as encoded metadata hold them."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, datetime):
        return "moment", microseconds_from(value)
    if isinstance(value, str):
        return "string", value
    return "number", float(value)


def decoded_value(kind: str, value: Any) -> MetadataValue:
    """Returns the value of such a pair."""
    match kind:
        case "moment":
            return moment_from(int(value))
        case "number":
            return float(value)
        case "boolean":
            return bool(value)
        case _:
            return str(value)
