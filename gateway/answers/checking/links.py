"""Links, images and tags of an answer: only those stay that the sources hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"'`|\]]+|\bwww\.[^\s<>\"'`|\]]+", re.IGNORECASE)
_CLOSING = ".,;:!?)»”’"
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_TARGET = (
    r"\(\s*(?P<target><[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)"
    r"(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)"
)
# With brackets in it, as links have them around images.
_BRACKETED = r"(?:[^\[\]]|\[[^\[\]]*\])*"
_IMAGE = re.compile(rf"!\[{_BRACKETED}\](?:{_TARGET}|\[[^\[\]\n]*\])")
_LINK = re.compile(rf"\[(?P<text>{_BRACKETED})\]{_TARGET}")
_REFERENCE = re.compile(
    r"^[ \t]{0,3}\[[^\[\]\n]+\]:[ \t]*<?(?P<target>[^\s<>]+)>?.*$", re.MULTILINE
)
_REFERRING = re.compile(r"\[(?P<text>[^\[\]\n]+)\]\[(?P<name>[^\[\]\n]*)\]")
_DANGEROUS = re.compile(r"<(script|style|iframe|object|svg)\b.*?(?:</\1\s*>|\Z)", re.I | re.DOTALL)
_AUTOLINK = re.compile(r"<(?P<target>[a-z][a-z0-9+.-]*:[^\s<>]+)>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?![a-z][a-z0-9+.-]*:)[a-z][^<>\n]{0,1000}>|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL
)


class AllowedLinks:
    """Removes what leads elsewhere than the sources do; code is left as it is."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Takes the texts of the sources and where they come from."""
        self._allowed = {_plain(each) for text in texts for each in _ADDRESS.findall(text)}

    def cleaned(self, text: str) -> tuple[str, int]:
        """Returns the text without other links, images and tags, and how many these were.

        Of a link the text stays, of a tag what it surrounds; images go as a whole.
        """
        parts: list[str] = []
        removed = end = 0
        for start, stop in code_spans(text):
            prose, count = self._cleaned(text[end:start])
            parts += prose, text[start:stop]
            removed, end = removed + count, stop
        prose, count = self._cleaned(text[end:])
        return "".join([*parts, prose]), removed + count

    def _cleaned(self, text: str) -> tuple[str, int]:
        if not re.search(r"[<\[]|://|www\.", text):
            return text, 0
        removed = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal removed
            named = match.groupdict()
            if _plain(named.get("target") or "") in self._allowed:
                return match.group()
            removed += 1
            return named.get("text") or ""

        def drop(match: re.Match[str]) -> str:
            nonlocal removed
            if _plain(match.group()) in self._allowed:
                return match.group()
            removed += 1
            return match.group()[len(match.group().rstrip(_CLOSING)) :]

        for pattern in (_DANGEROUS, _IMAGE, _LINK, _REFERENCE, _AUTOLINK):
            text = pattern.sub(replace, text)
        text = _REFERRING.sub(lambda match: match["text"], text)
        text = _TAG.sub(replace, text)
        return _ADDRESS.sub(drop, text), removed


def code_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans `[start, end)` of code, fenced or between backticks, in order."""
    if "`" not in text and "~~~" not in text:
        return []
    fences = [match.span() for match in _FENCE.finditer(text)]
    spans = list(fences)
    end = 0
    for start, stop in [*fences, (len(text), len(text))]:
        spans += [match.span() for match in _CODE.finditer(text, end, start)]
        end = stop
    return sorted(spans)


def _plain(address: str) -> str:
    return address.rstrip(_CLOSING).removesuffix("/").casefold()
