"""A running retriever, and the ledger of its clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.ledger import Ledger


@pytest.fixture
def process(tmp_path: Path) -> Iterator[RetrieverProcess]:
    """A retriever that is not started yet, over an empty folder."""
    process = RetrieverProcess(tmp_path)
    yield process
    process.kill()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger."""
    ledger = Ledger(tmp_path / "ledger")
    yield ledger
    ledger.close()
