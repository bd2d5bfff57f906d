"""Words and phrases that say how somebody asks, not what about.

Negations (`pas`, `sans`, `not`, `without`) and words of quantity are no filler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from text_analysis import stop_words


def _phrases(text: str) -> re.Pattern[str]:
    # Longest first, so that a phrase is not cut by its own beginning.
    phrases = sorted((line.strip() for line in text.splitlines() if line.strip()), key=len)
    inner = "|".join(rf"\b{phrase}" for phrase in reversed(phrases))
    return re.compile(rf"(?:{inner})(?!\w)", re.IGNORECASE)


PHRASES: Mapping[str, re.Pattern[str]] = {
    "fr": _phrases(
        r"""
        bonjour(?: à tous)?
        bonsoir
        salut
        s['’]il (?:vous|te) pla[iî]t
        svp
        stp
        merci(?: d['’]avance| beaucoup| bien)*
        cordialement
        (?:pouvez|pourriez)[- ]vous (?:me |nous )?(?:dire|indiquer|expliquer|préciser|aider)(?: à)?
        (?:peux|pourrais)[- ]tu (?:me |nous )?(?:dire|indiquer|expliquer|préciser|aider)(?: à)?
        je (?:voudrais|souhaite(?:rais)?|cherche à|veux) (?:savoir|connaître|comprendre)
        j['’]aimerais (?:savoir|connaître|comprendre)
        j['’]ai (?:besoin de savoir|une question)
        dis[- ]moi|dites[- ]moi
        savez[- ]vous|sais[- ]tu
        qu['’]est[- ]ce (?:que|qui|qu['’])(?: c['’]est)?
        est[- ]ce (?:que|qu['’])
        c['’]est quoi
        quels? (?:est|sont)
        quelles? (?:est|sont)
        qu['’]en est[- ]il
        y a[- ]t[- ]il
        est[- ]il possible de
        à quoi (?:ça )?sert|à quoi servent
        """
    ),
    "en": _phrases(
        r"""
        hello
        hi(?: there| all)?
        hey
        dear (?:sir|madam|all|team)
        please
        thanks?(?: you)?(?: in advance| a lot| very much| so much)?
        regards
        (?:can|could|would|will) you (?:please )?(?:tell|explain|show|help)(?: me| us)?(?: to)?
        (?:can|could|would|will) you (?:please )?let (?:me|us) know
        (?:i|we)(?:['’]d| would) (?:like|love|want) to (?:know|understand|learn)
        (?:i|we) (?:want|need|wish) to (?:know|understand)
        (?:i|we) (?:have|['’]ve) a question
        do you know
        (?:i was |i['’]m |i am )?wondering(?: if| whether)?
        is it possible to
        is there any
        are there any
        what(?:['’]s| is| are)
        (?:i|you|we|they|he|she|it|that|who|there)['’](?:s|re|ll|ve|m|d)
        """
    ),
}

_QUESTION_WORDS = {
    "fr": "qui que quoi quel quelle quels quelles quand comment pourquoi combien où lequel laquelle"
    " lesquels lesquelles",
    "en": "what which who whom whose when where how why",
}
# Verbs that carry a question and are found in every document.
_CARRIERS = {
    "fr": "peux peut peuvent pouvez pouvons puis pourrait pourrais pourrez doit dois doivent devez"
    " devons faut faudrait vais va vont allez existe fait faire font quoi alors donc encore aussi",
    "en": "can could should would shall will may might must do does did get gets got make makes"
    " need needs want wants it guys",
}

WORDS: Mapping[str, frozenset[str]] = {
    "fr": stop_words.FRENCH | frozenset(f"{_QUESTION_WORDS['fr']} {_CARRIERS['fr']}".split()),
    "en": stop_words.ENGLISH | frozenset(f"{_QUESTION_WORDS['en']} {_CARRIERS['en']}".split()),
}
