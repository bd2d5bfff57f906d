"""Telling people what happens to the processes of a mesh."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from justesse.cli.local_mesh.log_lines import readable_lines
from justesse.cli.local_mesh.services import START_ORDER
from justesse.cli.local_mesh.supervisor import MeshEvent, MeshStep, StartFailedError
from justesse.cli.output import plain

_WORDS = {
    MeshStep.READY: Text("ready", "green"),
    MeshStep.DIED: Text("died:", "bold red"),
    MeshStep.RECOVERED: Text("ready again", "green"),
    MeshStep.STOPPED: Text("stopped"),
    MeshStep.KILLED: Text("killed, since it did not stop in time", "bold red"),
}


class Announcer:
    """Writes one line an event; on a terminal, also a spinner that names what is waited for."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._waiting = [service.name for service in START_ORDER]
        self._spinner: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._spinner = self._console.status(self._waiting_text())
            self._spinner.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_spinner()

    def report(self, event: MeshEvent) -> None:
        """Writes what happened; what is only begun is left to the spinner."""
        if event.step not in _WORDS:
            return
        line = Text.assemble(f"  {event.service:<10} ", _WORDS[event.step])
        if event.detail:
            line.append_text(plain(f" {event.detail}", "dim"))
        self._console.print(line)
        if event.step is MeshStep.READY:
            self._waiting.remove(event.service)
            if not self._waiting:
                self._stop_spinner()
            elif self._spinner:
                self._spinner.update(self._waiting_text())

    def interrupted(self) -> None:
        """Says that the mesh is being stopped."""
        self._stop_spinner()
        self._console.print("Stopping: calls under way are finished first; Ctrl-C again kills.")

    def start_failed(self, error: StartFailedError) -> None:
        """Shows what the process wrote last of its failure."""
        self._stop_spinner()
        for line in readable_lines(error.last_lines):
            self._console.print(plain(f"  {error.service} | {line}", "dim"), soft_wrap=True)

    def _stop_spinner(self) -> None:
        if self._spinner:
            self._spinner.stop()
            self._spinner = None

    def _waiting_text(self) -> str:
        return f"waiting for {', '.join(self._waiting)}"
