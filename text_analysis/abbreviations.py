"""Abbreviations whose full stop does not end a sentence, in French and English."""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words(
    "M MM Mme Mmes Mlle Mlles Dr Drs Pr Me Mes St Ste Mgr Mr Mrs Ms Prof Jr Sr Gen Col"
)
"""Titles, written with a capital: `me` and `pr` are no titles."""

_COMPANIES = _words("Inc Ltd Corp Bros Cie")

_REFERENCES = _words(
    """
    art al p pp ex cf fig chap vol n° nº éd env av bd boul ét tél apr réf hab max min p.ex
    approx vs eq eqn figs vols eds viz resp incl janv févr sept oct nov déc
    """
)
"""Abbreviations written in either case."""

_INITIALS = re.compile(r"(?:[^\W\d_]\.)+-?[^\W\d_]|[A-ZÀ-ÖØ-Þ]")
_TIMES_OF_DAY = frozenset({"a.m", "p.m"})


def is_abbreviation(word: str) -> bool:
    """Says if the word before a full stop is an abbreviation, written without that full stop.

    Single capitals (`J.`) and dotted initials (`U.E.`, `i.e.`) count; `p.m.` does not, because it
    mostly ends its sentence when a capital follows.
    """
    lowered = word.lower()
    if lowered in _TIMES_OF_DAY:
        return False
    return (
        word in _TITLES
        or word in _COMPANIES
        or lowered in _REFERENCES
        or _INITIALS.fullmatch(word) is not None
    )
