"""Terms as tokens that every analyzer of Milvus leaves whole: Latin letters and digits only.

A token names the language of its term, so that one field serves several. A term of other
characters, such as `c++` or a CJK bigram, is written in hexadecimal digits behind a mark.
"""

import re
from collections.abc import Iterable, Sequence

from retriever_svc.milvus.collections.collection_shape import LONGEST_TERMS

_PLAIN = re.compile(r"[a-z0-9]+")
_MARK = "qz"


def token_of(term: str, language: str) -> str:
    """Returns the token of a term; different terms and languages (of two letters) differ in it."""
    if _PLAIN.fullmatch(term) and not term.startswith(_MARK):
        return f"{language}{term}"
    return f"{language}{_MARK}{term.encode().hex()}"


def token_text(terms: Sequence[str], language: str, *, longest: int = LONGEST_TERMS) -> str:
    """Returns the tokens joined by blanks, at most `longest` bytes.

    Of a text that is longer, the different terms come first, and repetitions as far as they fit.
    """
    tokens = [token_of(term, language) for term in terms]
    text = " ".join(tokens)
    if len(text) <= longest:
        return text
    return _fitting([*dict.fromkeys(tokens), *_repetitions(tokens)], longest)


def _repetitions(tokens: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    repeated = []
    for token in tokens:
        if token in seen:
            repeated.append(token)
        seen.add(token)
    return repeated


def _fitting(tokens: Iterable[str], longest: int) -> str:
    kept, size = [], -1
    for token in tokens:
        if size + 1 + len(token) > longest:
            continue
        kept.append(token)
        size += 1 + len(token)
    return " ".join(kept)
