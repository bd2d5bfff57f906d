"""What French users write, through the service: each form finds every other, and nothing else."""

import asyncio
import unicodedata

import pytest

from tests.fakes.retriever_client import RetrieverClient

FAMILIES = {
    "water": ("eau", "l'eau", "L’EAU", "d'eau", "des eaux"),
    "heart": ("coeur", "cœur", "CŒUR", "coeurs"),
    "engineer": ("ingénieur", "ingenieur", "INGÉNIEUR", "ingénieurs"),
    "summer": (
        unicodedata.normalize("NFC", "été"),
        unicodedata.normalize("NFD", "été"),
        "ETE",
        "L'ÉTÉ",
    ),
    "order": ("BL-2024-117", "bl-2024-117", "BL‑2024‑117"),
    "language": ("C++", "c++"),
    "pi": ("3.14", "3,14"),
    "negation": ("n'est pas", "n’est pas", "N'EST PAS"),
    "duck": ("烤鸭", "北京烤鸭"),
    "forgotten": ("aujourd'hui", "Aujourd’hui"),
}


async def _found(retriever: RetrieverClient, query: str) -> list[str]:
    answer = await retriever.find(query, candidate_count=200)
    return [hit.document.external_id for hit in answer.hits]


async def test_every_form_finds_every_form(retriever: RetrieverClient) -> None:
    """Both ways: each is a document and each is a query; families stay apart."""
    uploads = [
        retriever.put(f"{family}/{number}", [f"Voici : {form} !"])
        for family, forms in FAMILIES.items()
        for number, form in enumerate(forms)
    ]
    await asyncio.gather(*uploads)
    for family, forms in FAMILIES.items():
        expected = {f"{family}/{number}" for number in range(len(forms))}
        for form in forms:
            assert set(await _found(retriever, form)) == expected, form


@pytest.mark.parametrize(
    ("query", "first", "never"),
    [
        ("C++", "Le C++ de la maison", "Le C de la maison"),
        ("BL-2024-117", "Bon BL-2024-117", "Bon 117 du quai"),
        ("3.14", "Chapitre 3.14", "Chapitre 3 puis 14"),
        ("livraison sans retard", "livraison sans retard", "retard de livraison"),
        ("il n'est pas livré", "Il n'est pas livré", "Il est livré"),
        ("été", "un été chaud", "il a etudié"),
    ],
)
async def test_exact_forms_lead(
    retriever: RetrieverClient, query: str, first: str, never: str
) -> None:
    """Signs, numbers and negations are part of what was asked."""
    await asyncio.gather(retriever.put("other", [never]), retriever.put("asked", [first]))

    assert (await _found(retriever, query))[0] == "asked"


@pytest.mark.parametrize("query", ["xyzzyq plugh", "的", "!!! ???", "de la", "\u200b", "💧", "C#"])
async def test_nonsense_finds_nothing(retriever: RetrieverClient, query: str) -> None:
    """Nothing is returned with a score of zero."""
    await retriever.put("a", ["De l'eau en C++, n'est-ce pas ? 北京烤鸭"])

    assert await _found(retriever, query) == []
