"""An answer without a chat model: the sentences of the sources that have most to do with it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.answers.checking.facts import analyzer
from gateway.answers.checking.links import AllowedLinks
from gateway.answers.sought import asked_terms, sought_value, unheld_by
from gateway.context.formats import ContextLanguage, NumberedSource
from gateway.context.neutralisation import neutralised
from text_analysis.language import detect_language
from text_analysis.sentences import sentences

MOST_SENTENCES = 3
_LEAST_SHARE = 0.5
"""Of the best sentence's score, that a further one must reach."""
_LEAST_VALUE_SHARE = 0.28
"""The same of one that holds the value which is asked for."""
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
"""As k1 and b of BM25 (Robertson and Zaragoza 2009), of which this is the score of a sentence."""
_LONGEST = 600
"""Characters of a quoted sentence."""
_REFERRING = re.compile(
    r"(?!Il (?:faut|y a|est|convient|suffit|s['’])|It is)"
    r"(?:Il|Elle|Ils|Elles|Ce|Cet|Cette|Ces|Cela|Celui-ci|Celle-ci|Ceux-ci"
    r"|It|They|This|That|These|Those|He|She)\b"
)
_BORDER_SIGNS = re.compile(r"^(?:[-*+•▪‣–—#>]+|\d+[.)])\s+|\s*\|\s*$|^\s*\|\s*")
_BRACKETED = re.compile(r"\[([^\[\]\n]*)\]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a source, its place there, and its terms."""

    source: NumberedSource
    place: int
    text: str
    terms: tuple[str, ...]


def extractive_answer(
    question: str, sources: Sequence[NumberedSource], language: ContextLanguage
) -> str:
    """Returns up to three sentences, quoted word for word, each with the mark of its source.

    Empty where no sentence shares a term with the question, where a name or a number of it stands
    in no source, and where it asks for a value and no sentence that has to do with it holds one.
    Where the sources are in another language than the question, the best of them begins the answer
    instead. A sentence that begins with a pronoun brings the one before it. They stand in the order
    of the sources.
    """
    held = [sentence for source in sources for sentence in _sentences_of(source)]
    if unheld_by(question, [_whole(source) for source in sources]):
        return ""
    scored = _scored(question, held)
    chosen = _chosen(question, scored)
    if not scored and _is_foreign(question, held):
        chosen = [min(held, key=lambda sentence: (sentence.source.source.rank, sentence.place))]
    quoted = {
        (each.source.index, each.place): each
        for sentence in chosen
        for each in _with_antecedent(sentence, held)
    }
    return "\n\n".join(_quoted(quoted[place], language) for place in sorted(quoted))


def _sentences_of(source: NumberedSource) -> list[_Sentence]:
    text = neutralised(source.source.text)
    analysed = analyzer(detect_language(text))
    lines = [line for part in sentences(text) for line in _rows(part)]
    return [
        _Sentence(source, place, line, tuple(analysed.terms(line)))
        for place, line in enumerate(lines)
        if line
    ]


def _rows(sentence: str) -> list[str]:
    """Returns the rows of a table, or the sentence; without signs of lists and tables around."""
    rows = sentence.split("\n") if "|" in sentence else [" ".join(sentence.split())]
    return [_BORDER_SIGNS.sub("", row).strip() for row in rows]


def _scored(question: str, held: Sequence[_Sentence]) -> list[tuple[float, _Sentence]]:
    """Returns sentences with their BM25 score among all of them, best first; those over 0."""
    asked = asked_terms(question)
    if not held or not asked:
        return []
    holding = Counter(term for sentence in held for term in set(sentence.terms) & asked)
    usual = sum(len(sentence.terms) for sentence in held) / len(held) or 1.0
    scored = [
        (sum(_weight(term, sentence, holding, len(held), usual) for term in asked), sentence)
        for sentence in held
    ]
    found = [pair for pair in scored if pair[0] > 0]
    # Of equal ones the better source's: its rank, not its place in the block.
    return sorted(found, key=lambda pair: (-pair[0], pair[1].source.source.rank, pair[1].place))


def _chosen(question: str, scored: Sequence[tuple[float, _Sentence]]) -> list[_Sentence]:
    """Returns the best sentences; the best that holds a value is among them where one is sought."""
    if not scored:
        return []
    best = scored[0][0]
    chosen = [
        sentence for score, sentence in scored[:MOST_SENTENCES] if score >= _LEAST_SHARE * best
    ]
    sought = sought_value(question)
    if sought is None:
        return chosen
    bearing = [
        sentence
        for score, sentence in scored
        if score >= _LEAST_VALUE_SHARE * best and sought.stands_in(sentence.text)
    ]
    if not bearing:
        return []
    if bearing[0] not in chosen:
        chosen = [*chosen[: MOST_SENTENCES - 1], bearing[0]]
    return chosen


def _is_foreign(question: str, held: Sequence[_Sentence]) -> bool:
    """Whether the best source is in another language than the question."""
    if not held:
        return False
    best = min(held, key=lambda sentence: sentence.source.source.rank).source.source
    return detect_language(best.text) != detect_language(question)


def _whole(source: NumberedSource) -> str:
    """Returns all that a source says, with what stands above it."""
    return "\n".join([source.source.title, *source.source.heading_path, source.source.text])


def _weight(
    term: str, sentence: _Sentence, holding: Counter[str], count: int, usual: float
) -> float:
    times = sentence.terms.count(term)
    if not times:
        return 0.0
    rarity = math.log(1 + (count - holding[term] + 0.5) / (holding[term] + 0.5))
    length = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(sentence.terms) / usual
    # A passage that ranks higher vouches for its sentences.
    trust = 1 / math.log2(1 + sentence.source.source.rank)
    return rarity * times * (_SATURATION + 1) / (times + _SATURATION * length) * trust


def _with_antecedent(sentence: _Sentence, held: Sequence[_Sentence]) -> list[_Sentence]:
    """Returns the sentence, and the one before where it begins with a word that refers to it."""
    if not _REFERRING.match(sentence.text):
        return [sentence]
    before = [
        each for each in held if each.source is sentence.source and each.place == sentence.place - 1
    ]
    return [*before, sentence]


def _quoted(sentence: _Sentence, language: ContextLanguage) -> str:
    text = sentence.text
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 1].rsplit(' ', 1)[0]}…"
    # What stands in brackets would be taken for a citation, and a link for one to follow.
    text = _BRACKETED.sub(r"(\1)", AllowedLinks([]).cleaned(text)[0])
    opening, closing = ("« ", " »") if language is ContextLanguage.FRENCH else ("“", "”")
    return f"{opening}{text}{closing} {sentence.source.mark}"
