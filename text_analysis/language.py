"""Tells French from English, for texts as short as a query.

Function words and accents decide first: statistical models take a single French noun for Latin.
Where these say nothing, a byte n-gram model (langid, Lui and Baldwin 2012) decides among the
allowed languages only.
"""

import math
import re
import threading
from collections.abc import Sequence

_CLUES = {
    "fr": re.compile(
        r"""\b(?:le|la|les|un|une|des|du|de|et|est|sont|dans|pour|par|sur|avec|sans|pas|ne|que|qui
        |quel|quelle|quels|quelles|quand|comment|pourquoi|combien|où|au|aux|ce|cette|ces|il|elle
        |nous|vous|ils|elles|mon|ma|mes|votre|vos|notre|nos|leur|leurs|je|peut|faut|être|avoir)\b
        |\b(?:l|d|j|n|s|c|m|t|qu|jusqu|lorsqu|puisqu|aujourd)['’](?=\w)|[àâçèéêëîïœùûÿ]""",
        re.VERBOSE,
    ),
    "en": re.compile(
        r"""\b(?:the|an|of|to|and|is|are|was|were|in|for|with|without|not|this|that|these|those
        |what|which|who|when|where|how|why|do|does|did|can|should|must|has|have|had|it|its|you
        |we|they|my|your|our|their|from|by|at|be|been|will|would|there)\b
        |\w(?:n['’]t|['’](?:s|re|ll|ve))\b""",
        re.VERBOSE,
    ),
}
_READ_CHARACTERS = 4_000
# Log-likelihood ratio below which single words such as `facture` or `stock` are judged at random.
_DECISIVE_LEAD = 2.0
_LETTER = re.compile(r"[^\W\d_]")
_model_loading = threading.Lock()


def detect_language(text: str, among: Sequence[str] = ("fr", "en")) -> str:
    """Returns the language of the text: one of `among`, the first of them when in doubt.

    `among` holds ISO 639-1 codes, most likely first. Only the first 4,000 characters are read.
    Never raises for any text; raises ValueError for an empty `among`.
    """
    if not among:
        raise ValueError("among is empty; name at least one language")
    sample = text[:_READ_CHARACTERS].lower()
    if len(among) == 1 or not _LETTER.search(sample):
        return among[0]
    scores = {
        language: sum(1 for _ in _CLUES[language].finditer(sample))
        for language in among
        if language in _CLUES
    }
    best = max(scores.values(), default=0)
    leaders = [language for language, score in scores.items() if score == best]
    if best > 0 and len(leaders) == 1 and len(scores) == len(among):
        return leaders[0]
    return _classified(sample, among)


def _classified(sample: str, among: Sequence[str]) -> str:
    # The import reads a model of 4.5 MB, which most texts do not need; it is not thread-safe.
    with _model_loading:
        from py3langid import rank
    scores = dict(rank(sample))
    best = max(among, key=lambda language: scores.get(language, -math.inf))
    lead = scores.get(best, -math.inf) - scores.get(among[0], -math.inf)
    return best if lead >= _DECISIVE_LEAD else among[0]
