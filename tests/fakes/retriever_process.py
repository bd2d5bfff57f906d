"""The retriever in a process of its own that can be killed and started again."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

_START_TIMEOUT_S = 60.0


class RetrieverProcess:
    """Runs `python -m retriever_svc` over one data folder, on a free port at every start."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""

    def start(self) -> None:
        """Starts the process and waits until it serves."""
        inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
        settings = {
            "JUSTESSE_RETRIEVER_PORT": "0",
            "JUSTESSE_RETRIEVER_DATA_FOLDER": str(self._data),
            "JUSTESSE_RETRIEVER_LOG_FORMAT": "json",
            "JUSTESSE_RETRIEVER_FLAT_ROW_LIMIT": "60",
            "JUSTESSE_RETRIEVER_GROWING_ROW_LIMIT": "20",
        }
        # A file, not a pipe: nobody would empty the pipe while the process works.
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "retriever_svc"], env=inherited | settings, stderr=log
            )
        self.address = self._wait_until_serving()

    def kill(self) -> None:
        """Ends the process as a power cut would, without any warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _wait_until_serving(self) -> str:
        assert self._process is not None
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self._log.read_text().splitlines(keepends=True):
                if '"serving"' in line and line.endswith("\n"):
                    return str(json.loads(line)["address"])
            time.sleep(0.02)
        raise AssertionError(f"the retriever did not start:\n{self._log.read_text()}")
