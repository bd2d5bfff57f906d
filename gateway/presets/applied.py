"""What a workspace's preset adds to a question that leaves things open."""

from __future__ import annotations

from dataclasses import replace

from gateway.known_workspaces import KnownWorkspace
from gateway.presets.presets import preset_named
from gateway.questions import Question
from gateway.switches.values import SwitchValues


def as_preset_says(
    question: Question, switches: SwitchValues, known: KnownWorkspace
) -> tuple[Question, SwitchValues]:
    """Returns the question and the switches with what the preset chooses.

    Values of the question itself stay; counts of the preset take the place of those that the
    switches hold. What is switched off stays off.
    """
    preset = preset_named(known.preset)
    defaults = preset.search
    limit = preset.answer.passage_count if question.for_context else defaults.limit
    counts = defaults.rerank_candidate_count or switches.rerank_candidate_count
    return (
        replace(
            question,
            limit=limit if question.limit is None else question.limit,
            candidate_count=question.candidate_count or defaults.candidate_count,
            thresholds=question.thresholds or defaults.thresholds(known.preferred_space_id),
        ),
        replace(switches, rerank_candidate_count=counts),
    )
