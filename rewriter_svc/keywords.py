"""What a question is about: its words less those that only ask."""

from __future__ import annotations

import re

from rewriter_svc.filler_words import PHRASES, WORDS

_MARKS = '?!,;:…"“”«»()[]{}'
_ELISION = re.compile(r"(?:[ldjmtscn]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)", re.IGNORECASE)
# A verb and the pronoun that follows it in a question: `doit-il`, `existe-t-il`.
_INVERSION = re.compile(
    r"(?P<verb>[^\W\d_]+)-(?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles|ce)", re.IGNORECASE
)


def keywords_of(query: str, language: str) -> str:
    """Returns the words of a query without politeness, question words, articles and pronouns.

    Their order and form stay. A word in capitals among others that are not is a name and stays
    too, whatever it would mean. Empty if nothing is left.
    """
    shouted = query.upper() == query
    kept = [
        word
        for surface in PHRASES[language].sub(" ", query).split()
        if (word := bare_word(surface)) and _keeps(word, language, shouted)
    ]
    return " ".join(kept)


def bare_word(surface: str) -> str:
    """Returns a word without punctuation, elided article and appended pronoun; may be empty."""
    word = surface.strip(_MARKS + "'’")
    word = word.rstrip(".")
    while elision := _ELISION.match(word):
        word = word[elision.end() :]
    inversion = _INVERSION.fullmatch(word)
    return inversion["verb"] if inversion else word


def _keeps(word: str, language: str, shouted: bool) -> bool:
    if not any(character.isalnum() for character in word):
        return False
    if not shouted and len(word) > 1 and word.isupper():
        return True
    return word.casefold() not in WORDS[language]
