"""Fixtures of the gateway's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.gateway_services.switch_database import SwitchDatabase


@pytest.fixture
def database(tmp_path: Path) -> SwitchDatabase:
    """A database that is not there yet, in a folder that is not there either."""
    return SwitchDatabase(tmp_path / "data" / "gateway.sqlite")
