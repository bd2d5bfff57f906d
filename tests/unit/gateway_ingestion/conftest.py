"""What tests of the ingestion role share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.ingestion_desk import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """The ingestion over fakes, with a workspace "w"."""
    async with open_desk(tmp_path) as desk:
        yield desk
