"""Tells a usable rewrite from one that would find something else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rewriter_svc.identifiers import identifiers_in
from rewriter_svc.language import LANGUAGES, terms_of
from text_analysis.language import detect_language

LONGEST_REWRITE = 400
"""Characters; a list of words is shorter, and what is longer is an answer or a list gone wild."""
_FEWEST_NEW_WORDS = 3


class Fault(Enum):
    """Why a rewrite is not used; the value is what a caller is told."""

    REFUSED = "the model refused to reword the query"
    CUT = "the model had not finished when its output was full"
    EMPTY = "the model wrote nothing that could be searched for"
    TOO_LONG = "the model wrote more than a query"
    OTHER_LANGUAGE = "the model changed the language of the query"
    IDENTIFIER_LOST = "the model left out a number, code or name of the query"
    UNRELATED = "the model wrote about something else"


@dataclass(frozen=True, slots=True)
class Original:
    """What a rewrite is compared with.

    `language` is that of the query, `context` the conversation before it.
    """

    query: str
    language: str
    context: str = ""


def fault_of(rewrite: str, original: Original) -> Fault | None:
    """Returns what is wrong with a cleaned rewrite, None if it can be searched with."""
    if not any(character.isalnum() for character in rewrite):
        return Fault.EMPTY
    if len(rewrite) > max(LONGEST_REWRITE, len(original.query)):
        return Fault.TOO_LONG
    written = set(terms_of(rewrite, original.language))
    for identifier in identifiers_in(original.query):
        if not written.issuperset(terms_of(identifier, original.language)):
            return Fault.IDENTIFIER_LOST
    if _is_in_other_language(rewrite, original):
        return Fault.OTHER_LANGUAGE
    known = set(terms_of(f"{original.query} {original.context}", original.language))
    if known and known.isdisjoint(written):
        return Fault.UNRELATED
    return None


def _is_in_other_language(rewrite: str, original: Original) -> bool:
    """Judges by the words that are new, since names of the query may be of any language."""
    others = tuple(each for each in LANGUAGES if each != original.language)
    among = (original.language, *others)
    known = set(f"{original.query} {original.context}".casefold().split())
    new = [word for word in rewrite.split() if word.casefold() not in known]
    if len(new) < _FEWEST_NEW_WORDS:
        return False
    texts = (" ".join(new), rewrite)
    return all(detect_language(text, among) != original.language for text in texts)
