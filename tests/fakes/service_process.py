"""A service in a process of its own, on free ports."""

import json
import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self


class ServiceProcess:
    """Runs `python -m MODULE` and reads where it listens from its log.

    `prefix` is that of the service's environment variables, such as `JUSTESSE_REWRITER_`.
    """

    def __init__(self, module: str, prefix: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            env={**inherited, f"{prefix}PORT": "0", f"{prefix}LOG_FORMAT": "json"},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = ""

    def __enter__(self) -> Self:
        """Waits for the line that says where the service listens."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            entry = json.loads(line)
            if entry["event"] == "serving":
                self.address = str(entry["address"])
                return self
        raise RuntimeError(f"the process ended with {self._process.wait()} before it served")

    def terminate(self) -> int:
        """Sends SIGTERM and returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=20)
        return self._process.returncode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the process if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
