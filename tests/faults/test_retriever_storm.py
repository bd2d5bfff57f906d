"""The embedded engine under writers, deleters and searchers at once."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


def test_changes_and_searches_at_once_never_meet_half_a_change(tmp_path: Path, soak: bool) -> None:
    """No crash of native code, no hit that was not live, no miss of what was; equality in the
    end."""
    seconds = "60" if soak else "8"
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.retrieval_storm", str(tmp_path / "data"), "7", seconds],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    writes, _, searches, _ = done.stdout.split() if done.stdout else ("0", "", "0", "")

    assert done.returncode == 0, done.stderr[-4_000:]
    assert int(writes) > 20
    assert int(searches) > 100
