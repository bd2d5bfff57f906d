"""What is not enough for an answer, refused by its reason before any model is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.answers.events import AnswerOrigin
from gateway.answers.whole_answer import WholeAnswer, whole_answer
from gateway.context.of_retrieval import NO_WISHES, ContextWishes
from gateway.questions import Question
from gateway.receipt import StageOutcome
from gateway.searching import FusedHit, HitContent
from tests.fakes.answers.tile_trade import QUESTION, fill
from tests.fakes.answers.vendor import answer_models, says
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

ENGLISH = "What is the delay for tiles that are returned?"


async def _answered(
    mesh: MeshOfFakes, question: str = QUESTION, wishes: ContextWishes = NO_WISHES
) -> WholeAnswer:
    async with answer_models(says("Une réponse.")) as (vendor, models):
        mesh.models = models
        answer = await whole_answer(
            mesh.application().answers.answer(Question("negoce", question), wishes)
        )
    assert vendor.received == []
    return answer


def _changed(hit: FusedHit, *, superseded: bool = False, text: str = "") -> FusedHit:
    content = hit.content
    changed = HitContent(
        replace(content.passage, text=text or content.passage.text),
        replace(content.document, superseded=superseded),
    )
    return FusedHit(hit.passage_id, lambda: changed, hit.fused_rank, hit.fused_score)


def _assert_refused(answer: WholeAnswer, reason: str) -> None:
    refusal = answer.outcome.refusal
    assert refusal is not None
    assert refusal.reason == reason
    assert answer.outcome.origin is AnswerOrigin.REFUSED
    assert answer.citations == ()
    assert answer.text.startswith("Les documents de référence fournis ne contiennent pas")
    report = answer.outcome.receipt.stages[-1]
    assert (report.stage, report.outcome) == ("answer", StageOutcome.SKIPPED)
    assert (report.reason, report.detail) == (reason, refusal.detail)


async def test_nothing_found_is_refused(mesh: MeshOfFakes) -> None:
    """The search found no passage."""
    mesh.retriever.hits = []

    _assert_refused(await _answered(mesh), "NO_HITS")


async def test_what_newer_versions_replace_is_no_evidence(mesh: MeshOfFakes) -> None:
    """Where all that was found is superseded; one that is not is enough."""
    fill(mesh)
    assert mesh.retriever.hits is not None
    mesh.retriever.hits = [_changed(hit, superseded=True) for hit in mesh.retriever.hits]

    _assert_refused(await _answered(mesh), "SUPERSEDED_ONLY")


async def test_what_fits_into_no_budget_is_no_evidence(mesh: MeshOfFakes) -> None:
    """A budget too small for a part of the best passage."""
    fill(mesh)
    assert mesh.retriever.hits is not None
    mesh.retriever.hits = [_changed(hit, text="Mot. " * 400) for hit in mesh.retriever.hits]

    _assert_refused(await _answered(mesh, wishes=ContextWishes(token_budget=64)), "OVER_BUDGET")


@pytest.mark.parametrize(
    ("question", "language", "first"),
    [
        (QUESTION, "fr", "Les documents"),
        (ENGLISH, "fr", "The reference"),
        ("BL-2024-117", "en", "The reference"),
        ("BL-2024-117", "fr", "Les documents"),
    ],
)
async def test_a_refusal_is_in_the_questions_language(
    mesh: MeshOfFakes, question: str, language: str, first: str
) -> None:
    """In doubt in that of the workspace."""
    mesh.retriever.hits = []
    mesh.retriever.add_workspace("negoce", language=language)
    answer = await _answered(mesh, question)

    assert answer.text.startswith(first)
