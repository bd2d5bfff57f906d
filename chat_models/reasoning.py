"""Takes out what a model thought aloud before it answered.

Blocks stand between <think> and </think> (also <thinking>, <reasoning>, [THINK]). There may be
several, the last may have no end, and where the vendor's template wrote the first <think> itself,
the answer begins after a </think> that nothing opened.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>|\[(/?)THINK\]", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "<reasoning>", "[think]")
_STARTS = frozenset(
    tag[:length]
    for whole in _TAGS
    for tag in (whole, f"{whole[0]}/{whole[1:]}")
    for length in range(1, len(tag))
)
_LONGEST_START = max(map(len, _STARTS))


def without_reasoning(text: str) -> str:
    """Returns what is no reasoning, without white space around it."""
    answer: list[str] = []
    inside, at = False, 0
    for tag in _TAG.finditer(text):
        closing = bool(tag[1] or tag[2])
        if not inside:
            answer.append(text[at : tag.start()])
        if closing and not inside:
            # Nothing opened it, so all that came before was reasoning.
            answer.clear()
        inside, at = not closing, tag.end()
    if not inside:
        answer.append(text[at:])
    return "".join(answer).strip()


class ReasoningFilter:
    """Takes reasoning out of an answer that comes in pieces.

    Holds back what may be the beginning of a tag. A </think> that nothing opened is left out
    itself; what was passed on before it cannot be taken back. White space before the first piece
    is dropped.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._begun = False

    def feed(self, piece: str) -> str:
        """Returns what can be passed on by now."""
        text, self._held = self._held + piece, ""
        passed, at = [], 0
        for tag in _TAG.finditer(text):
            if not self._inside:
                passed.append(text[at : tag.start()])
            self._inside, at = not (tag[1] or tag[2]), tag.end()
        rest = text[at:]
        kept = _start_of_tag_at_end(rest)
        self._held = rest[len(rest) - kept :]
        if not self._inside:
            passed.append(rest[: len(rest) - kept])
        return self._without_leading_space("".join(passed))

    def close(self) -> str:
        """Returns what was held back, once no more pieces come."""
        rest, self._held = self._held, ""
        return "" if self._inside else self._without_leading_space(rest)

    def _without_leading_space(self, text: str) -> str:
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        return text


def _start_of_tag_at_end(text: str) -> int:
    lowered = text[-_LONGEST_START:].lower()
    lengths = range(len(lowered), 0, -1)
    return next((length for length in lengths if lowered[-length:] in _STARTS), 0)
