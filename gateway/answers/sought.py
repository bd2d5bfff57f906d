"""What a question asks for, as far as that can be told without reading: a value, or one thing.

Who quotes sentences cannot judge whether they answer. Two things can be told all the same: a
question for a price, a rate or a number is not answered by a sentence without one (expected answer
types: Li and Roth 2002), and one about Casablanca, or 2023, not by sources that never name them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache

from gateway.answers.checking.facts import analyzer, names_of, plain_word
from text_analysis.language import detect_language

_NAME_STEM = 5
"""Characters by which names are compared: Taïwanais and Taïwan are one."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?![\w.,-]*\d)")
_TRANSLATED = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "april",
        "may",
        "june",
        "july",
        "august",
        "december",
        "english",
        "french",
        "german",
        "spanish",
        "italian",
        "dutch",
    ]
)
"""English names that sources in French have in another form."""
_SPELLED = (
    r"\b(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|quarante"
    r"|cinquante|soixante|cent|mille|two|three|four|five|seven|eight|nine|ten|eleven|twelve"
    r"|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand)\b"
)


class SoughtValue(Enum):
    """What kind of value a question asks for."""

    AMOUNT = "amount"
    """Of money."""
    RATE = "rate"
    NUMBER = "number"

    def stands_in(self, sentence: str) -> bool:
        """Whether a sentence holds such a value; in rows of tables the unit stands elsewhere."""
        if "|" in sentence:
            return re.search(r"\d", sentence) is not None
        return _HOLDING[self].search(sentence) is not None


_HOLDING = {
    SoughtValue.AMOUNT: re.compile(
        r"\d[\d\s.,]*(?:€|k€|euros?\b|dollars?\b|\$|usd\b|centimes\b|cents\b)|[€$]\s?\d",
        re.IGNORECASE,
    ),
    SoughtValue.RATE: re.compile(r"\d\s?(?:%|pour cent|per ?cent)", re.IGNORECASE),
    SoughtValue.NUMBER: re.compile(rf"\d|{_SPELLED}", re.IGNORECASE),
}
_ASKING = {
    SoughtValue.AMOUNT: re.compile(
        r"\b(?:quel(?:le)?s?|à quel|what(?:['’]s| is| are)?(?: the)?|which)\s"
        r"(?:\w+\s){0,2}(?:prix|montants?|coûts?|tarifs?|prices?|costs?|fees?)\b"
        r"|\A\s*(?:le |la )?prix\b|\bhow much\b"
        r"|\bcombien\b[^,?]{0,20}\b(?:coût|pa[iy]|factur)\w*"
        r"|\b(?:pa[iy]|coût|chiffr|factur)\w*\s+combien\b",
        re.IGNORECASE,
    ),
    SoughtValue.RATE: re.compile(r"\b(?:taux|pourcentage|percentage|rate)\b", re.IGNORECASE),
    SoughtValue.NUMBER: re.compile(
        r"\bcombien\b|\bhow (?:many|long)\b|\b(?:numéro|number)\b"
        r"|\bquel(?:le)?s? (?:date|taille|durée|délai|heure)\b",
        re.IGNORECASE,
    ),
}


_QUESTION_WORDS = {
    "fr": "comment pourquoi combien quand quel quelle quels quelles quoi que qui dont est sont "
    "être ai as a avons avez ont avoir fait faire faut falloir peut peux peuvent pouvoir puis je "
    "tu il elle on nous vous ils elles mon ma mes notre nos votre vos chez alors donc encore aussi "
    "tout",
    "en": "how why what when where which who whom whose do does did is are was were be been am can "
    "could may might must should would will have has had i you he she it we they my your our their "
    "the a an of to in on for from with there please",
}
_WORD = re.compile(r"\w+(?:['’./+#-]+\w+)*[+#]*")


def asked_terms(question: str) -> frozenset[str]:
    """Returns the terms that a question is about, without those that make it a question.

    Analysed in both languages, since sources may be in the other one.
    """
    own = detect_language(question)
    (other,) = _QUESTION_WORDS.keys() - {own}
    terms: set[str] = set()
    for word in _WORD.findall(question):
        if own_terms := set(analyzer(own).terms(word)) - _question_terms(own):
            terms |= own_terms | set(analyzer(other).terms(word))
    return frozenset(terms)


@cache
def _question_terms(language: str) -> frozenset[str]:
    return frozenset(analyzer(language).terms(_QUESTION_WORDS[language]))


def sought_value(question: str) -> SoughtValue | None:
    """Returns the kind of value that is asked for; None where the question asks for none."""
    return next((value for value, asking in _ASKING.items() if asking.search(question)), None)


def unheld_by(question: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Returns names, codes and years of a question that stand in none of the texts.

    Other numbers tell the case of whoever asks, which no document knows.
    """
    held = plain_word("\n".join(texts))
    named = [*names_of(question), *_YEAR.findall(question)]
    return tuple(
        dict.fromkeys(name for name in named if _stem(name) not in held and name not in _TRANSLATED)
    )


def _stem(name: str) -> str:
    return name if any(sign.isdigit() for sign in name) else name[:_NAME_STEM]
