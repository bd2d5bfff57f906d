"""Who holds leases, and which of them are dead."""

import subprocess
import sys
from pathlib import Path

from gateway.jobs.holders import Holders

ROOT = Path(__file__).resolve().parents[3]
_CLAIM = """
import sys
from pathlib import Path
from gateway.jobs.holders import Holders

with Holders(Path(sys.argv[1])).claimed() as name:
    print(name, flush=True)
    sys.stdin.read()
"""


def test_a_living_holder_is_never_taken_for_dead(tmp_path: Path) -> None:
    """Every claim has a name of its own, which is gone once it is given up."""
    holders = Holders(tmp_path / "holders")

    with holders.claimed() as one, holders.claimed() as two:
        assert one != two
        assert holders.dead() == []

    assert holders.dead() == []


def test_a_killed_process_is_known_to_be_dead_at_once(tmp_path: Path) -> None:
    """Not while it lives; its name stays until it is forgotten."""
    with subprocess.Popen(
        [sys.executable, "-c", _CLAIM, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        holders = Holders(tmp_path)
        assert holders.dead() == []
        process.kill()
        process.wait()

    assert holders.dead() == [name]
    holders.forget(name)
    assert holders.dead() == []
