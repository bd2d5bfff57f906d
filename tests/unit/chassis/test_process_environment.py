"""What native libraries find when they are loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import chassis.process_environment, os, sys
print(os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"], "numpy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("given", "found"), [({}, "1 passive False"), ({"OMP_NUM_THREADS": "4"}, "4 passive False")]
)
def test_threads_are_few_unless_the_operator_says_otherwise(
    given: dict[str, str], found: str
) -> None:
    """The variables are set before any native library is loaded, and never overwritten."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=given | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == found
