"""One process of the mesh: started with its log in a file, tied to this one, stopped politely."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TETHER = Path(__file__).with_name("tether.py")
LOG_TAIL_BYTES = 64 * 1024


class ServiceProcess:
    """A process that can be started again after it has ended."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log_file: Path,
    ) -> None:
        """`command` starts with the path of a program; output is appended to `log_file`."""
        self.name = name
        self.log_file = log_file
        self._command = command
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self._log_start = 0

    @property
    def pid(self) -> int:
        """Id of the process; it must have been started."""
        return self._started().pid

    @property
    def running(self) -> bool:
        """It was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Starts it in a session of its own, so that Ctrl-C in a terminal does not reach it."""
        with self.log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(TETHER), str(os.getpid())),
                *self._command,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def wait(self) -> int:
        """Waits for its end; returns the exit code, or -N for signal N."""
        return await self._started().wait()

    async def stop(self, grace_s: float) -> bool:
        """Sends SIGTERM, and SIGKILL after `grace_s`; tells whether the first was enough."""
        if not self.running:
            return True
        self._send(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_s):
                await self.wait()
        except TimeoutError:
            await self.kill()
            return False
        return True

    async def kill(self) -> None:
        """Ends it at once."""
        if self.running:
            self._send(signal.SIGKILL)
            await self.wait()

    def last_lines(self, count: int) -> list[str]:
        """Returns the end of what it wrote since it was last started."""
        with self.log_file.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_start, end - LOG_TAIL_BYTES))
            return log.read().decode("utf-8", "replace").splitlines()[-count:]

    def _send(self, number: signal.Signals) -> None:
        # It may end between the look and the signal.
        with contextlib.suppress(ProcessLookupError):
            self._started().send_signal(number)

    def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process


def ending_in_words(code: int) -> str:
    """Says how a process ended, from an exit code as of `ServiceProcess.wait`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
