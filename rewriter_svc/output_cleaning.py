"""Takes the rewritten query out of what a chat model wrote around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rewriter_svc.prompt import QUESTION_LABEL, SEARCH_LABEL

_FENCE = re.compile(r"^\s*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•–—‣▪]\s+|\(?\d{1,2}[.)]\s+)")
_LABEL = re.compile(
    r"""^\s*(?:[*_#]+\s*)?
    (?:(?:voici|here(?:['’]s|\s+is|\s+are)|sure|certainly|bien\s+s[ûu]r|d['’]accord)\b[^:：\n]{0,80}
      |(?:the\s+|la\s+|votre\s+|your\s+)?
       (?:re-?(?:written|formulated|phrased|worded)|optimi[sz]ed|improved|new|final|search|standalone)?
       \s*(?:search\s+)?(?:query|question|output|result|rewrite|answer|keywords|terms)
      |(?:la\s+)?(?:requête|question|recherche|reformulation|réponse|résultat|sortie|mots[\s-]clés
       |termes(?:\s+de\s+recherche)?)(?:\s+(?:réécrite?|reformulée?|optimisée?|autonome|finale?))?
      |search|fr|en|french|english|français|anglais)
    \s*(?:[*_]+)?\s*[:：]\s*(?:[*_]+)?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_FOLLOW_UP_LABEL = re.compile(
    rf"[*_#\s]*(?P<label>{QUESTION_LABEL}|{SEARCH_LABEL})[*_\s]*[:：](?P<rest>.*)", re.IGNORECASE
)
_EXPLANATION = re.compile(
    r"""(?:^|[\s(\[–—-]+)(?:(?:explications?|explanation|note|remarque|rationale|reasoning|n\.?b\.?)
    \s*[:：]|j['’]ai\s+ajouté\b|i\s+(?:have\s+)?(?:added|removed|kept)\b).*$""",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "`": "`"}
_EMPHASIS = re.compile(r"^[*_#]{1,3}\s*(?=\S)|(?<=\S)\s*[*_]{1,3}$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The two lines of an answer to a follow-up; each is empty where it is missing."""

    question: str
    search: str


def cleaned(text: str) -> str:
    """Returns the query in a model's answer, on one line; empty if there is none.

    Labels, quotes, fences and bullets go; of several lines the first with words counts, but
    lists are joined; explanations behind it are cut.
    """
    lines = _lines(text)
    if not lines:
        return ""
    if len(lines) > 1 and all(_BULLET.match(line) for line in lines):
        return " ".join(dict.fromkeys(_bare(line) for line in lines if _bare(line)))
    return next((bare for line in lines if (bare := _bare(line))), "")


def follow_up(text: str) -> FollowUp:
    """Returns the two lines of an answer, wherever their labels stand and in whatever case."""
    parts: dict[str, str] = {}
    for line in _lines(text):
        labelled = _FOLLOW_UP_LABEL.match(_BULLET.sub("", line))
        if labelled is not None:
            parts.setdefault(labelled["label"].upper(), _bare(labelled["rest"]))
    return FollowUp(parts.get(QUESTION_LABEL, ""), parts.get(SEARCH_LABEL, ""))


def _lines(text: str) -> list[str]:
    printable = _CONTROL.sub(" ", _FENCE.sub("", text))
    return [line.strip() for line in printable.splitlines() if line.strip()]


def _bare(line: str) -> str:
    """Takes off what surrounds a query, layer by layer, until nothing changes."""
    bare = _EXPLANATION.sub("", line)
    while True:
        before = bare
        bare = _LABEL.sub("", _BULLET.sub("", bare.strip()))
        bare = _EMPHASIS.sub("", bare).strip()
        if len(bare) > 1 and _QUOTES.get(bare[0]) == bare[-1] and bare[0] not in bare[1:-1]:
            bare = bare[1:-1].strip()
        if bare == before:
            return " ".join(bare.split())
