"""An answer while a chat model writes it: raw pieces in, checked text out."""

from __future__ import annotations

from collections.abc import Callable

from gateway.answers.checking.checked_answer import CheckedAnswer
from gateway.answers.held_text import HeldText
from gateway.answers.languages import has_enough_letters, is_in_other_language

_MOST_CHECKS = 64
"""While a text grows to e times its length."""

Check = Callable[[str], CheckedAnswer]
"""Checks what is written until now; of a text that goes on, the result goes on too."""


class OtherLanguage(Exception):  # noqa: N818 - not a fault
    """The model writes in another language than the question's."""


class Draft:
    """Gives out only what stays: whole sentences, checked, with the citations renumbered.

    Nothing is given before a source of this answer has been cited and the language is known, so
    that an answer without evidence can still be replaced as a whole. What was given is never taken
    back: `text` is all of it, `checked` what the check says of it, and `seen` what it says of all
    that has come, given out or not.
    """

    def __init__(self, check: Check, language: str) -> None:
        """`language` (ISO 639-1) is that of the question."""
        self.text = ""
        self.raw = ""
        self._whole = ""
        self._check = check
        self._language = language
        self._held = HeldText()
        self._begun = False
        self.checked = self.seen = check("")

    def add(self, piece: str) -> str:
        """Returns what can be given out by now; raises OtherLanguage before anything is."""
        self._whole += self._held.feed(piece)
        # All is checked anew each time: of a long answer, not for every few words.
        if len(self._whole) <= len(self.raw) / _MOST_CHECKS:
            return ""
        return self._checked("", at_end=False)

    def close(self, *, complete: bool) -> str:
        """Returns what is left to be given out; a sentence that is not `complete` is left out."""
        rest = self._held.close()
        return self._checked(rest if complete else "", at_end=True)

    @property
    def is_whole(self) -> bool:
        """Whether all that has come, as checked, has been given out."""
        return self.text == self.seen.text

    def _checked(self, rest: str, *, at_end: bool) -> str:
        self.raw += self._whole + rest
        self._whole = ""
        checked = self.seen = self._check(self.raw)
        if not self._begun:
            # Not the checked text: its remarks are in the language that is wanted.
            if is_in_other_language(self.raw, self._language):
                raise OtherLanguage
            told = at_end or has_enough_letters(self.raw)
            self._begun = told and bool(checked.citations)
        # What would change the text that was given says nothing that can still be heard.
        if not self._begun or not checked.text.startswith(self.text):
            return ""
        given = checked.text[len(self.text) :]
        self.text, self.checked = checked.text, checked
        return given
