"""The retriever in a process of its own that can be killed and started again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

_START_TIMEOUT_S = 60.0
_ROOT = Path(__file__).parents[2]


class RetrieverProcess:
    """Runs `python -m retriever_svc` over one data folder, on a free port at every start."""

    def __init__(
        self, folder: Path, data: Path | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        """The log goes to `folder`, and the data too unless they have a folder of their own."""
        self.data = folder / "data" if data is None else data
        self._log_path = folder / "log"
        self._settings = dict(settings or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""

    @property
    def pid(self) -> int:
        """Process id of the running process."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What the process has logged since its last start."""
        return self._log_path.read_text()

    def start(self, failpoint: str = "") -> None:
        """Starts the process and waits until it serves."""
        if not self.start_or_end(failpoint):
            raise AssertionError(f"the retriever did not start:\n{self.log}")

    def start_or_end(self, failpoint: str = "") -> bool:
        """Starts the process; returns True when it serves, False if it ends before.

        `failpoint` is `point:every:action`, as the failpoints of the embedded engine read it.
        """
        inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
        settings = {
            "PORT": "0",
            "DATA_FOLDER": str(self.data),
            "DRAIN_PAUSE_S": "0",
            "LOG_FORMAT": "json",
            "FLAT_ROW_LIMIT": "20",
            "GROWING_ROW_LIMIT": "5",
            "PURGE_WITHIN_S": "0.4",
            **self._settings,
        }
        environment = {f"JUSTESSE_RETRIEVER_{name}": value for name, value in settings.items()}
        if failpoint:
            environment["JUSTESSE_FAILPOINT"] = failpoint
        module = "tests.faults.armed_retriever" if failpoint else "retriever_svc"
        # A file, not a pipe: nobody would empty the pipe while the process works.
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module], env=inherited | environment, stderr=log, cwd=_ROOT
            )
        return self._serves()

    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout: float) -> int:
        """Waits for the end of the process and returns its exit code."""
        assert self._process is not None
        return self._process.wait(timeout)

    def stop(self) -> int:
        """Asks the process to end, where it has not yet, and returns its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(_START_TIMEOUT_S)

    def kill(self) -> None:
        """Ends the process as a power cut would, without any warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _serves(self) -> bool:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline and self.running():
            for line in self.log.splitlines(keepends=True):
                if '"serving"' in line and line.endswith("\n"):
                    self.address = str(json.loads(line)["address"])
                    return True
            time.sleep(0.01)
        return False
