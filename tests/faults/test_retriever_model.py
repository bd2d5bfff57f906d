"""The embedded engine against a dictionary searched by hand, over random sequences of changes."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chassis.errors import NotFound
from retriever_svc.documents import UpsertOutcome
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, unit_rows, upsert

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3_600)]

WIDTH = 8
ROWS = unit_rows(400, WIDTH, seed=3)
DENSE = DenseSettings(flat_row_limit=10, growing_row_limit=4, segment_row_limit=30)
WORDS = ["eau", "feu", "terre", "air"]

names = st.sampled_from([f"doc-{number}" for number in range(8)])
versions = st.integers(1, 12)


def passages_of(name: str, version: int) -> dict[str, int]:
    """Returns the texts of a version, each with the row of `ROWS` that is its vector.

    One text is the same in two versions in a row, and loses and regains its vector's row.
    """
    number = int(name.removeprefix("doc-"))
    texts = [f"{WORDS[(number + place) % 4]} {name} {version // 2} {place}" for place in range(3)]
    first = number * 48 + version * 4
    return {f"{text}{'' if place else ' bis'}": first + place for place, text in enumerate(texts)}


class EngineModel(RuleBasedStateMachine):
    """Stores, repeats and deletes documents, drops the workspace, and opens the engine anew."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.engine = self.opened()
        self.run(self.engine.create_workspace("docs", WorkspaceSettings()))
        self.live: dict[str, int] = {}

    def opened(self) -> EmbeddedEngine:
        """Opens the engine over the folder."""
        return EmbeddedEngine(EmbeddedSettings(self.folder, dense=DENSE, disk_reserve_bytes=0))

    def run(self, call: Any) -> Any:
        """Waits for a call."""
        return self.runner.run(call)

    @rule(name=names, version=versions)
    def put(self, name: str, version: int) -> None:
        """Stores a version; the receipt says what that meant."""
        texts = passages_of(name, version)
        given = upsert(
            name,
            list(texts),
            vectors=[passage_vectors(ROWS[list(texts.values())].tolist())],
            content_hash=f"version {version}",
        )
        receipt = self.run(self.engine.upsert_document(given))
        before = self.live.get(name)
        if before is None:
            assert receipt.outcome is UpsertOutcome.CREATED
        else:
            unchanged = before == version
            assert (receipt.outcome is UpsertOutcome.UNCHANGED) is unchanged
        self.live[name] = version

    @rule(name=names)
    def delete(self, name: str) -> None:
        """Deletes a document, there or not."""
        removal = self.run(self.engine.delete_document("docs", name))
        assert removal.deleted is (self.live.pop(name, None) is not None)

    @precondition(lambda self: self.live)
    @rule()
    def drop(self) -> None:
        """Drops the workspace and creates it anew."""
        self.run(self.engine.delete_workspace("docs"))
        with pytest.raises(NotFound):
            self.run(self.engine.search_passages(request("eau")))
        self.run(self.engine.create_workspace("docs", WorkspaceSettings()))
        self.live = {}

    @rule()
    def reopen(self) -> None:
        """Closes the engine and opens it again."""
        self.engine.close()
        self.engine = self.opened()

    @rule()
    def wait_for_graphs(self) -> None:
        """Lets graphs be published before the next comparison, not just at any moment."""
        assert self.engine.wait_for_graphs(30)

    @invariant()
    def equals_the_model(self) -> None:
        """Finds exactly what lives: by word, and by vector, nearest first."""
        rows = {
            text: row
            for name, version in self.live.items()
            for text, row in passages_of(name, version).items()
        }
        described = self.run(self.engine.describe_workspace("docs"))
        assert described.document_count == len(self.live)
        assert described.passage_count == len(rows)
        for word in WORDS:
            result = self.run(
                self.engine.search_passages(
                    request(word, mode=SearchMode.LEXICAL, candidate_count=100)
                )
            )
            assert sorted(found(result)) == sorted(text for text in rows if word in text.split())
        query = ROWS[-1]
        result = self.run(
            self.engine.search_passages(
                request("x", {SPACE: query}, mode=SearchMode.DENSE, candidate_count=100)
            )
        )
        scores = {text: float(np.dot(ROWS[row], query)) for text, row in rows.items()}
        hits = found(result)
        assert sorted(hits) == sorted(rows)
        assert [scores[text] for text in hits] == pytest.approx(
            sorted(scores.values(), reverse=True), abs=1e-5
        )

    def teardown(self) -> None:
        """Closes the engine and removes its folder."""
        self.engine.close()
        self.runner.close()
        shutil.rmtree(self.folder)


TestEngineModel = EngineModel.TestCase


@pytest.fixture(autouse=True, scope="module")
def _counts(soak: bool) -> None:
    TestEngineModel.settings = settings(
        max_examples=60 if soak else 8, stateful_step_count=20, deadline=None
    )
