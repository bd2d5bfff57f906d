"""Passage text as data: it cannot pose as a source mark, a border, or a turn of the conversation.

What is neutralised stays readable; only the signs that carry the meaning are changed. Everything is
looked for in the folded text, as a model reads full-width brackets like plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gateway.context.folding import folded
from text_analysis.visible_text import visible

# `[Source 1: ...]`, `[Source: ...]`, `[Source-1]`, `[Source n°1]`, `[[source:...]]`.
_SOURCE_MARK = re.compile(r"\[(?:\s|\[){0,8}sources?\b", re.IGNORECASE)
# Lines that part or end a block: `===`, `=== ... ===`, `---`, also as entities or long dashes.
_BORDER = re.compile(r"^[ \t]*(?:={3,}|-{3,}|[–—]{3,})", re.MULTILINE)
# Special tokens of chat templates: <|im_start|>, <s>, <<SYS>>, [INST], <start_of_turn>, and tags
# that models take for turns, tools or thoughts.
_ROLE_TOKEN = re.compile(
    r"<\s{0,4}\|[^<>|]{0,200}\|\s{0,4}>"
    r"|</?s>|<{1,2}/?SYS>{1,2}"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|IMG|PREFIX|MIDDLE|SUFFIX)\]"
    r"|</?\s{0,4}(?:start_of_turn|end_of_turn|bos|eos|pad|unk|system|user|assistant|human|tool"
    r"|tool_calls?|tool_response|tool_results?|function_calls?|invoke|think|thinking"
    r"|instructions?|sources?|context|documents?)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
# A line that begins like a turn of a conversation, or like a heading of an instruction format.
_TURN = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?"
    r"(?:(?:system|assistant|human|user|développeur|developer|système|utilisateur)"
    r"(?:\*\*)?[ \t\u00a0\u202f]*:"
    r"|#{1,6}[ \t]*(?:instructions?|response|réponse|input|question)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_TO_ROUND = str.maketrans("<>[]|", "()()¦")


def neutralised(text: str) -> str:
    """Returns passage text that is safe inside a block of sources."""
    text = visible(text)
    text = _changed(text, _ROLE_TOKEN, lambda found: found.translate(_TO_ROUND))
    text = _changed(text, _SOURCE_MARK, lambda found: found.translate(_TO_ROUND))
    text = _changed(text, _BORDER, _spaced)
    # Quoted, as Markdown does it, no line opens a turn.
    return _changed(text, _TURN, lambda found: f"> {found}")


def one_line(text: str, longest: int = 200) -> str:
    """Returns a title or heading on one line of at most so many characters, without signs that
    could end its mark."""
    line = " ".join(neutralised(folded_brackets(text)).split())
    line = line.translate(str.maketrans("[]|", "()/"))
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def folded_brackets(text: str) -> str:
    """Returns the text with every square bracket, of whatever kind, as a plain round one."""
    plain = folded(text)
    return "".join(
        {"[": "(", "]": ")"}.get(sign, character)
        for character, sign in zip(text, plain, strict=True)
    )


def _changed(text: str, pattern: re.Pattern[str], change: Callable[[str], str]) -> str:
    """Replaces what the pattern finds in the folded text by its changed folded form."""
    plain = folded(text)
    parts: list[str] = []
    end = 0
    for match in pattern.finditer(plain):
        parts += text[end : match.start()], change(match.group())
        end = match.end()
    return "".join([*parts, text[end:]]) if parts else text


def _spaced(border: str) -> str:
    signs = border.lstrip(" \t")
    return border[: len(border) - len(signs)] + " ".join(signs)
