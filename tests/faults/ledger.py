"""What the clients know: a file of their own, on the disk before they go on."""

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

GONE = 0
"""The version of a document that does not exist."""


@dataclass(slots=True)
class Known:
    """Holds the acknowledged version of each document, and those sent since without an answer."""

    acknowledged: dict[str, int] = field(default_factory=dict)
    unanswered: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def possible(self, document: str) -> set[int]:
        """Returns the versions the store may hold."""
        return {self.acknowledged.get(document, GONE), *self.unanswered[document]}


class Ledger:
    """Lines `event document version`, appended and synced one by one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)

    def send(self, document: str, version: int) -> None:
        """Notes that a change is about to be sent."""
        self._append("sent", document, version)

    def acknowledge(self, document: str, version: int) -> None:
        """Notes that a change was acknowledged."""
        self._append("acknowledged", document, version)

    def settle(self, document: str, version: int) -> None:
        """Notes what became of changes without an answer."""
        self._append("settled", document, version)

    def read(self) -> Known:
        """Reads the file from its start."""
        known = Known()
        for line in self.path.read_text().splitlines():
            event, document, version = line.split()
            if event == "sent":
                known.unanswered[document].add(int(version))
                known.acknowledged.setdefault(document, GONE)
            else:
                known.acknowledged[document] = int(version)
                known.unanswered[document].clear()
        return known

    def count(self, event: str) -> int:
        """Returns how many lines bear the event."""
        return sum(line.startswith(event) for line in self.path.read_text().splitlines())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _append(self, event: str, document: str, version: int) -> None:
        self._file.write(f"{event} {document} {version}\n".encode())
        os.fdatasync(self._file.fileno())
