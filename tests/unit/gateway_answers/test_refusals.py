"""Refusals are told from answers, and said in one sentence."""

from __future__ import annotations

import pytest

from gateway.answers.refusals import is_refusal, refusal_sentence
from gateway.context.formats import ContextLanguage


def test_the_french_sentence_is_this_one() -> None:
    """Word for word."""
    assert refusal_sentence(ContextLanguage.FRENCH) == (
        "Les documents de référence fournis ne contiennent pas d'informations suffisantes pour "
        "répondre à cette question."
    )


@pytest.mark.parametrize(
    "text",
    [
        *map(refusal_sentence, ContextLanguage),
        "Je ne trouve pas cette information dans les documents fournis.",
        "Les sources ne précisent pas le tarif de la livraison.",
        "La source [Source-1] ne précise pas ce délai.",
        "Désolé, je ne dispose d'aucune information à ce sujet. N'hésitez pas à contacter le "
        "service.",
        "Le délai n'est pas mentionné dans les sources.",
        "Aucune source ne traite de ce point.",
        "Il n'y a pas d'information sur ce sujet dans les documents.",
        "Je ne peux pas répondre à cette question à partir des sources fournies.",
        "The provided sources do not mention the price.",
        "I cannot find this information in the documents.",
        "I'm sorry, but I don't have enough information to answer. Please contact support.",
        "There is no information about this in the context.",
        "The price is not specified in the documents.",
    ],
)
def test_a_models_own_refusal_is_recognised(text: str) -> None:
    """In French and English, politely or not."""
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Le délai est de 30 jours [Source-1].",
        "Le délai est de 30 jours [1]. Les sources ne précisent pas le tarif.",
        "Les sources ne précisent pas le tarif. Le délai est de 30 jours [Source-1].",
        "Le retour se fait sous 30 jours, mais les documents ne mentionnent pas les soldes [1].",
        "Les clients ne peuvent pas renvoyer un document signé sans accord préalable [1].",
        "Le formulaire ne contient pas de signature [1].",
        "Delivery takes 3 days [1]. The documents do not say who pays.",
        "Les sources ne disent rien des soldes. En revanche, tout retour ordinaire se fait sous "
        "trente jours à compter de la livraison, avec le bon signé par le client.",
    ],
)
def test_an_answer_with_a_caveat_is_an_answer(text: str) -> None:
    """What was not found beside what was."""
    assert not is_refusal(text)
