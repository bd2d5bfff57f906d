"""Refusals: the sentence that is given in place of an answer, and those that models give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from gateway.answers.checking.marks import MARK
from gateway.context.folding import folded
from gateway.context.formats import ContextLanguage
from text_analysis.sentences import sentences


class RefusalReason(StrEnum):
    """Why a question is not answered."""

    NO_HITS = "NO_HITS"
    WEAK_EVIDENCE = "WEAK_EVIDENCE"
    SUPERSEDED_ONLY = "SUPERSEDED_ONLY"
    OVER_BUDGET = "OVER_BUDGET"
    MODEL_REFUSED = "MODEL_REFUSED"


_SENTENCES: Mapping[ContextLanguage, str] = {
    ContextLanguage.FRENCH: "Les documents de référence fournis ne contiennent pas d'informations "
    "suffisantes pour répondre à cette question.",
    ContextLanguage.ENGLISH: "The reference documents provided do not contain enough information "
    "to answer this question.",
}

_MATERIAL = (
    r"(?:documents?|documentation|sources?|passages?|extraits?|informations?|textes?|contexte"
    r"|éléments?|excerpts?|context|texts?|material|knowledge\ base|information"
    r"|base\ documentaire)"
)
_REFUSING = re.compile(
    rf"""
      \b{_MATERIAL}\b[^.!?\n]{{0,80}}\bne\s+(?:\w+\s+)?
        (?:contien|permett|permet|mentionn|précis|fourni|donn|répond|indiqu|parl|suffis|compren
          |comport|abord|évoqu|traite|dis)\w*\s+(?:pas|aucune?|rien)
    | \b(?:ne|n['’])\s*(?:figure|apparaît|est|sont|trouve|dispose|peux|sais|vois|ai|suis|puis)\w*
        \s+(?:\w+\s+)?(?:pas|aucune?)\b[^.!?\n]{{0,80}}
        \b(?:{_MATERIAL}|répondre|réponse|mesure)\b
    | \baucune?\s+(?:des\s+)?{_MATERIAL}\b[^.!?\n]{{0,60}}\b(?:ne|n['’])
    | \b(?:pas|aucune)\s+d?['’e]?\s*(?:informations?|réponse|éléments?|données)\b[^.!?\n]{{0,60}}
        \b(?:{_MATERIAL}|suffisant|répondre|sujet)
    | \b(?:{_MATERIAL})\b[^.!?\n]{{0,80}}\b(?:do|does|did|is|are)\s*(?:not|n['’]t)\s+
        (?:contain|mention|provide|say|include|answer|state|specif|give|cover|address|discuss
          |enough|sufficient)
    | \bI(?:['’]m|\s+am|\s+was)?\s+
        (?:cannot|can['’]?t|couldn['’]?t|could\s+not|unable|not\s+able
          |(?:do\s+not|don['’]?t)\s+(?:have|find|know|see))
        \b[^.!?\n]{{0,80}}\b(?:answer|information|find|say|tell|{_MATERIAL})\b
    | \b(?:no|not\s+enough|insufficient)\s+(?:relevant\s+|sufficient\s+)?
        (?:information|answer|evidence|mention)\b
    | \bnot\s+(?:mentioned|specified|stated|contained|covered|found|available)\s+(?:in|by)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_POLITE = re.compile(
    r"\b(?:désolée?|regrette|n['’]hésitez|invite|contacte[rz]|adresse[rz]|sorry|apologi[sz]e"
    r"|please|contact|feel free|reformule[rz]|rephrase)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_MOST_OTHER_WORDS = 12
"""In sentences that neither refuse nor are mere politeness; more of them are an answer."""


def refusal_sentence(language: ContextLanguage) -> str:
    """Returns what is said in place of an answer."""
    return _SENTENCES[language]


def is_refusal(text: str) -> bool:
    """Whether a model's answer says that the sources do not hold one, and nothing else.

    An answer that adds what it did not find is an answer: some other sentence of it cites a source,
    or says more than a few words.
    """
    refusing, other_words = False, 0
    for sentence in sentences(text):
        refusal = _REFUSING.search(sentence)
        cites = MARK.search(folded(sentence)) is not None
        if refusal is not None:
            refusing = True
            before = len(_WORD.findall(sentence[: refusal.start()]))
            if cites and before > _MOST_OTHER_WORDS // 2:
                return False
        elif cites:
            return False
        elif not _POLITE.search(sentence):
            other_words += len(_WORD.findall(sentence))
    return refusing and other_words <= _MOST_OTHER_WORDS
