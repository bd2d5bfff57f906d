"""The demo base in a mesh of its own, asked for answers: none is written, sentences are quoted."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.answers.evidence.decision import Strictness
from justesse.cli.addresses import MeshAddresses
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.client import Justesse
from tests.quality.evidence_table import DEMO, FOREIGN

_DEMO_FOLDER = Path(__file__).parents[2] / "demo"
_WORKSPACE = "demo"


Decided = list[tuple[bool, bool]]
"""Of each question, whether the documents answer it, and whether the mesh did."""


def asked_of_demo(strictness: Strictness, foreign: Sequence[str]) -> Mapping[str, Decided]:
    """Asks the demo's labelled questions, and some that have nothing to do with its documents."""
    lines = (_DEMO_FOLDER / "labelled_questions.jsonl").read_text("utf-8").splitlines()
    own = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        plan = MeshPlan(
            data_folder=Path(folder),
            log_folder=Path(folder) / "logs",
            address_file=Path(folder) / "address.json",
            environment={
                "JUSTESSE_EMBEDDER_PROVIDERS": "embedded",
                "JUSTESSE_GATEWAY_ANSWER_EVIDENCE": strictness.value,
            },
            free_ports=True,
        )

        def ask(addresses: MeshAddresses) -> Mapping[str, Decided]:
            with Justesse(addresses.address) as mesh:
                _fill(mesh)
                return {
                    DEMO: [
                        (each["answerable"], _is_answered(mesh, each["question"])) for each in own
                    ],
                    FOREIGN: [(False, _is_answered(mesh, text)) for text in foreign],
                }

        async def work(addresses: MeshAddresses) -> Mapping[str, Decided]:
            return await asyncio.to_thread(ask, addresses)

        return run_mesh(plan, work, lambda _event: None, lambda: None)


def _fill(mesh: Justesse) -> None:
    mesh.create_workspace(_WORKSPACE)
    documents = _DEMO_FOLDER / "documents"
    for file in sorted(each for each in documents.rglob("*") if each.is_file()):
        mesh.ingest(_WORKSPACE, file, external_id=str(file.relative_to(documents)))
    probe = "quelle franchise au terminal ?"
    # Windows follow; what is similar is judged with them.
    while any(
        score.best_window_cosine is None
        for hit in mesh.search(_WORKSPACE, probe, limit=100, candidate_count=200).hits
        for score in hit.scores.space_scores
    ):
        time.sleep(1)


def _is_answered(mesh: Justesse, question: str) -> bool:
    return mesh.answer(_WORKSPACE, question, timeout=60).outcome.refusal is None
