"""Answers and their faults are counted."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from gateway.admission.admission import UNBOUNDED, Admission
from gateway.answers.answer_metrics import AnswerMetrics
from gateway.answers.answers import Answers
from gateway.answers.parts import AnswerParts
from gateway.answers.whole_answer import whole_answer
from gateway.questions import Question
from tests.fakes.answers.tile_trade import QUESTION, RETURNS_MARK, fill
from tests.fakes.answers.vendor import answer_models, says
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

TEXT = (
    f"Le délai de retour des carreaux est de 99 jours après la livraison {RETURNS_MARK}. "
    "Voyez ![x](https://evil.test/a) [[source:gone.md|Rien]]."
)


async def test_each_answer_is_counted_with_its_faults(mesh: MeshOfFakes) -> None:
    """One by a model, with four faults, and one that is refused."""
    registry = CollectorRegistry()
    fill(mesh)
    async with answer_models(says(TEXT)) as (_, models):
        parts = AnswerParts(mesh.application().searches, models)
        answers = Answers(parts, Admission(UNBOUNDED), AnswerMetrics(registry))
        await whole_answer(answers.answer(Question("negoce", QUESTION)))
        mesh.retriever.hits = []
        await whole_answer(answers.answer(Question("negoce", QUESTION)))

    def counted(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    answered = {"origin": "model", "end": "complete", "refusal": ""}
    refused = {"origin": "refused", "end": "complete", "refusal": "NO_HITS"}
    assert counted("justesse_answers_total", **answered) == 1
    assert counted("justesse_answers_total", **refused) == 1
    for fault in ("unknown_citation", "foreign_link", "unsupported_sentence"):
        assert counted("justesse_answer_faults_total", fault=fault) == 1
    assert counted("justesse_answer_faults_total", fault="other_language") == 0
