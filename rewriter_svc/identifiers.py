"""What a rewrite must not lose: numbers, codes, references, addresses and names."""

from __future__ import annotations

import re

from rewriter_svc.filler_words import WORDS
from rewriter_svc.keywords import bare_word
from text_analysis.sentences import sentence_spans

_SIGN_INSIDE = re.compile(r"\w[@_/\\#+&]|[@#_]\w|\w\+\+|\.\w")
_CONTRACTION = re.compile(r"I['’](?:m|d|ll|ve)")
_INNER_CAPITAL = re.compile(r"[a-zà-ÿ][A-ZÀ-Þ]")


def identifiers_in(query: str) -> list[str]:
    """Returns the words of a query that name one thing, in order, each once.

    Those with a digit, with signs or capitals inside, in capitals, or capitalised within a
    sentence. In a query that is all in capitals, these mean nothing.
    """
    shouted = query.upper() == query
    found: dict[str, None] = {}
    for start, end in sentence_spans(query):
        for place, surface in enumerate(query[start:end].split()):
            word = bare_word(surface)
            if word and _names(word, is_first=place == 0, shouted=shouted):
                found.setdefault(word)
    return list(found)


def _names(word: str, *, is_first: bool, shouted: bool) -> bool:
    if any(character.isdigit() for character in word) or _SIGN_INSIDE.search(word):
        return True
    if shouted or not word[0].isalpha():
        return False
    if _INNER_CAPITAL.search(word):
        return True
    if len(word) > 1 and word.isupper():
        return True
    if is_first or len(word) == 1 or not word[0].isupper() or _CONTRACTION.fullmatch(word):
        return False
    # Many begin a question with a capital after their greeting.
    return not any(word.casefold() in words for words in WORDS.values())
