"""Each preset from the request to the vendor and back: block, marks, caps, temperature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chat_models.model_card import ModelCard
from gateway.answers.events import AnswerOrigin
from gateway.answers.whole_answer import whole_answer
from gateway.presets.presets import preset_named, presets
from gateway.questions import Question
from tests.fakes.answers.doors import answer_doors
from tests.fakes.answers.tile_trade import QUESTION, RETURNS, RETURNS_MARK, fill
from tests.fakes.answers.vendor import answer_models, asked, says
from tests.fakes.chat_vendor import MISTRAL, OLLAMA, OPENAI, Vendor
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

CARD = ModelCard("model-1", context_tokens=128_000)
MARKS = {
    "numbered": RETURNS_MARK,
    "titled": "[Source: Procédure retours]",
    "headed": "[Source-1]",
}
CITED_AS = {
    "numbered": RETURNS_MARK,
    "titled": "[Source: TITRE]",
    "headed": "[Source-N]",
}
"""As the rules for the model have it."""

HEADS = {
    "numbered": '[Source 1: "Procédure retours"]\n',
    "titled": "=== CONTEXTE DOCUMENTAIRE PERTINENT (RAG) ===\n[Source: Procédure retours]\n",
    "headed": "[Source-1] (Partie)\n",
}
ANSWER = (
    "Le délai de retour des carreaux est de 30 jours après la livraison, dit la procédure {mark}."
)


def _rules_of(body: dict[str, Any]) -> tuple[float, int]:
    """Temperature and cap as a vendor was told them."""
    if "options" in body:
        return body["options"]["temperature"], body["options"]["num_predict"]
    return body["temperature"], body["max_tokens"]


@pytest.mark.parametrize("vendor", [OPENAI, MISTRAL, OLLAMA], ids=lambda each: each.name)
@pytest.mark.parametrize("name", list(presets()))
async def test_a_preset_reaches_the_vendor(mesh: MeshOfFakes, name: str, vendor: Vendor) -> None:
    """Its format, its temperature, the cap of where the model runs; its marks are understood."""
    preset = preset_named(name)
    style = preset.context.style.value
    fill(mesh)
    workspace = mesh.retriever.workspaces["negoce"]
    settings = replace(workspace.settings, preset=name)
    mesh.retriever.workspaces["negoce"] = replace(workspace, settings=settings)
    text = ANSWER.format(mark=MARKS[style])
    reaction = vendor.stream([text]) if vendor is OLLAMA else says(text)
    async with answer_models(reaction, vendor=vendor, card=CARD) as (server, models):
        mesh.models = models
        events = mesh.application().answers.answer(Question("negoce", QUESTION))
        answer = await whole_answer(events)

    body = asked(server)
    rules = preset.answer
    cap = rules.max_tokens_ollama if vendor is OLLAMA else rules.max_tokens_hosted
    assert _rules_of(body) == (rules.temperature, cap)
    system, user = body["messages"]
    assert CITED_AS[style] in system["content"]
    assert f"{HEADS[style]}{RETURNS[1]}" in user["content"]
    assert answer.outcome.origin is AnswerOrigin.MODEL
    assert [citation.document_id for citation in answer.citations] == ["returns.md"]
    assert answer.text == ANSWER.format(mark="[1]")


def test_the_presets_say_what_was_decided() -> None:
    """Temperatures and caps that callers rely on."""
    rules = {name: preset.answer for name, preset in presets().items()}

    words, tutorial = rules["words"], rules["tutorial"]
    assert (words.temperature, words.max_tokens_hosted, words.max_tokens_ollama) == (
        0.3,
        4096,
        2048,
    )
    assert (tutorial.temperature, tutorial.max_tokens_hosted) == (0.1, 500)
    assert (words.passage_count, tutorial.passage_count) == (8, 4)


async def test_an_answer_reads_as_many_passages_as_its_preset_says(mesh: MeshOfFakes) -> None:
    """Four of those that are found, or as many as the request wants."""
    mesh.retriever.found = [f"p{number}-1" for number in range(7)]
    async with answer_doors(mesh) as doors:
        body = {"workspace": "negoce", "query": "Quel est le délai ?", "stream": True}
        usual = await doors.http.post("/v1/answer", json=body)
        wanted = await doors.http.post("/v1/answer", json={**body, "limit": 6})

    assert usual.text.partition("\n\n")[0].count('"document_id"') == 4
    assert wanted.text.partition("\n\n")[0].count('"document_id"') == 6
