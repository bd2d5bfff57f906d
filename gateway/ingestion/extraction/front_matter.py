"""Reads the lines between `---` that open a Markdown file.

Understood are `key: value`, lists (`[a, b]` or `- a` lines) and one level of `metadata:`. Anything
else makes the whole front matter text of the document, with a warning: nothing is guessed.
"""

from __future__ import annotations

import re
from datetime import datetime

from gateway.ingestion.extraction.blocks import FileFacts, MetadataValue
from gateway.ingestion.extraction.fact_values import keywords_from, moment_from, truth_from

_FENCED = re.compile(
    r"\A---[^\S\n]*\n(.*?)^(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_KEY = re.compile(r"(\s*)([^\W\d][\w .-]*?)\s*:(?:\s+(.*)|)\Z")
_ITEM = re.compile(r"\s*-\s+(.*)\Z")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')\s*(?:#.*)?\Z""")
_COMMENT = re.compile(r"(?:\A|\s+)#.*\Z")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?\Z")
_LIST_ITEM = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^,"']*[^,]*?))\s*(?:,|\Z)""")
_ALIASES = {
    "titre": "title",
    "mots-clés": "keywords",
    "mots-cles": "keywords",
    "tags": "keywords",
    "catégorie": "category",
    "categorie": "category",
    "langue": "language",
    "lang": "language",
}
_KNOWN = (
    "title",
    "keywords",
    "category",
    "language",
    "version",
    "superseded",
    "valid_from",
    "valid_until",
    "metadata",
)

Value = str | list[str] | dict[str, str]


class FrontMatterError(ValueError):
    """A line that is not understood; the message names it."""


def split_front_matter(text: str) -> tuple[str, str]:
    """Returns the lines between the fences, and the text after them; ("", text) without fences."""
    fenced = _FENCED.match(text)
    return (fenced.group(1), text[fenced.end() :]) if fenced else ("", text)


def facts_from(front_matter: str) -> tuple[FileFacts, tuple[str, ...]]:
    """Returns what the front matter says, and warnings about keys that are not used.

    Raises FrontMatterError.
    """
    values = _values(front_matter)
    metadata = values.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise FrontMatterError("metadata must hold `name: value` lines below it")
    unused = sorted(set(values) - set(_KNOWN))
    facts = FileFacts(
        title=_text(values, "title"),
        keywords=_keywords(values.get("keywords", "")),
        category=_text(values, "category"),
        language=_text(values, "language"),
        version=_text(values, "version"),
        superseded=_truth(_text(values, "superseded")),
        valid_from=_moment(values, "valid_from"),
        valid_until=_moment(values, "valid_until"),
        metadata={name: _typed(value) for name, value in metadata.items()},
    )
    return facts, ((f"front matter keys not used: {', '.join(unused)}",) if unused else ())


def _values(front_matter: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    open_key = ""
    for line in front_matter.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item, pair = _ITEM.match(line), _KEY.match(line)
        if item and open_key:
            _append(values, open_key, line, item.group(1))
        elif pair and pair.group(1) and open_key:
            _assign(values, open_key, line, pair.group(2), pair.group(3) or "")
        elif pair and not pair.group(1):
            key = _ALIASES.get(pair.group(2).lower(), pair.group(2).lower())
            if key in values:
                raise FrontMatterError(f"{key!r} is there twice")
            raw = _without_comment(pair.group(3) or "")
            values[key] = _inline(raw)
            open_key = "" if raw else key
        else:
            raise FrontMatterError(f"cannot read {line.strip()!r}")
    return values


def _append(values: dict[str, Value], key: str, line: str, item: str) -> None:
    items = values[key] or []
    if not isinstance(items, list):
        raise FrontMatterError(f"cannot read {line.strip()!r}")
    values[key] = [*items, _unquoted(_without_comment(item))]


def _assign(values: dict[str, Value], key: str, line: str, name: str, value: str) -> None:
    pairs = values[key] or {}
    if not isinstance(pairs, dict):
        raise FrontMatterError(f"cannot read {line.strip()!r}")
    # Quotes stay until the type is decided: "12" in quotes is text.
    values[key] = {**pairs, name: _without_comment(value)}


def _inline(raw: str) -> Value:
    if raw.startswith("[") and raw.endswith("]"):
        matches = _LIST_ITEM.finditer(raw[1:-1])
        items = (next((group for group in match.groups() if group), "") for match in matches)
        return [item.strip() for item in items if item.strip()]
    if raw.startswith(("{", "|", ">", "&", "*", "!")):
        raise FrontMatterError(f"cannot read {raw!r}")
    return _unquoted(raw)


def _without_comment(raw: str) -> str:
    quoted = _QUOTED.match(raw.strip())
    return quoted.group(1) if quoted else _COMMENT.sub("", raw).strip()


def _unquoted(raw: str) -> str:
    raw = raw.strip()
    if len(raw) >= 2 and raw[0] == raw[-1] and raw[0] in "\"'":
        return raw[1:-1]
    return raw


def _text(values: dict[str, Value], key: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise FrontMatterError(f"{key} must be one value")
    return value


def _keywords(value: Value) -> tuple[str, ...]:
    if isinstance(value, dict):
        raise FrontMatterError("keywords must be a list")
    if isinstance(value, str):
        return keywords_from(value)
    return tuple(item.strip() for item in value if item.strip())


def _truth(text: str) -> bool:
    truth = truth_from(text)
    if truth is None:
        raise FrontMatterError(f"superseded must be true or false, not {text!r}")
    return truth


def _moment(values: dict[str, Value], key: str) -> datetime | None:
    text = _text(values, key)
    moment = moment_from(text) if text else None
    if text and moment is None:
        raise FrontMatterError(f"{key} must be a date such as 2025-01-31, not {text!r}")
    return moment


def _typed(raw: str) -> MetadataValue:
    text = _unquoted(raw)
    if text != raw:
        return text
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if _NUMBER.match(text):
        return float(text)
    return moment_from(text) or text if re.match(r"\d{4}-\d\d-\d\d", text) else text
