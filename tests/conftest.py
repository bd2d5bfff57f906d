"""Options and settings of the whole suite."""

import os

import pytest
from hypothesis import settings

settings.register_profile("reduced", max_examples=40, derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=2000, derandomize=True, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--soak`: full counts instead of reduced ones."""
    parser.addoption("--soak", action="store_true", help="run with full counts")


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how many examples property tests try."""
    settings.load_profile("soak" if config.getoption("--soak") else "reduced")
    # The spinning threads of two OpenMP runtimes slow a two-core machine down by a factor of fifty.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


@pytest.fixture(scope="session")
def soak(request: pytest.FixtureRequest) -> bool:
    """Tells whether full counts are asked for."""
    return bool(request.config.getoption("--soak"))
