"""The data folder: who may use it, and where things lie in it.

lock                          held by the one process that uses the folder
store.sqlite3                 the truth
reserve                       space kept aside for deletions when the disk is full
workspaces/<internal id>/     derived indexes of one workspace
"""

import fcntl
import os
import shutil
from pathlib import Path

from chassis.errors import FailedPrecondition

_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "ceph", "glusterfs", "afs"}
)
_MOUNTS = Path("/proc/self/mountinfo")


class DataFolder:
    """An exclusively locked data folder; `close` gives the lock back, and so does any exit."""

    def __init__(self, path: Path, *, allow_network_file_system: bool = False) -> None:
        """Creates the folder if needed and locks it.

        Raises FailedPrecondition if another process holds it, if it cannot be written, or if it
        lies on a network file system, where SQLite's write-ahead log corrupts.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FailedPrecondition(
                f"data folder {path} cannot be created: {error.strerror}; "
                "choose another JUSTESSE_RETRIEVER_DATA_FOLDER",
                reason="DATA_FOLDER_UNUSABLE",
            ) from error
        if not allow_network_file_system:
            _refuse_network_file_system(path)
        self._lock = _lock(path)

    @property
    def store_path(self) -> Path:
        """Path of the SQLite database."""
        return self.path / "store.sqlite3"

    @property
    def reserve_path(self) -> Path:
        """Path of the file that keeps disk space aside."""
        return self.path / "reserve"

    def workspace_path(self, workspace_id: int) -> Path:
        """Path of the derived indexes of a workspace; names never reach the disk."""
        return self.path / "workspaces" / str(workspace_id)

    def workspace_ids(self) -> list[int]:
        """Internal ids of all workspaces that have a folder."""
        parent = self.path / "workspaces"
        if not parent.is_dir():
            return []
        return sorted(int(entry.name) for entry in parent.iterdir() if entry.name.isdecimal())

    def remove_workspace(self, workspace_id: int) -> None:
        """Removes the derived indexes of a workspace; none is no error."""
        path = self.workspace_path(workspace_id)
        if path.exists():
            shutil.rmtree(path)

    def close(self) -> None:
        """Gives the lock back."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def file_system_of(path: Path, mounts: str) -> str:
    """Returns the type of the file system that holds the path, read from `mountinfo` text."""
    best, kind = "", ""
    resolved = str(path.resolve())
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        mount = fields[4].replace("\\040", " ")
        inside = resolved == mount or resolved.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, right.split()[0]
    return kind


def _refuse_network_file_system(path: Path) -> None:
    if not _MOUNTS.exists():
        return
    kind = file_system_of(path, _MOUNTS.read_text())
    if kind in _NETWORK_FILE_SYSTEMS:
        raise FailedPrecondition(
            f"data folder {path} lies on a {kind} file system, where the store can be corrupted; "
            "use a local disk, or set JUSTESSE_RETRIEVER_ALLOW_NETWORK_FILE_SYSTEM=true to take "
            "the risk",
            reason="NETWORK_FILE_SYSTEM",
        )


def _lock(path: Path) -> int:
    lock = path / "lock"
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise FailedPrecondition(
            f"data folder {path} cannot be written: {error.strerror}; "
            "choose another JUSTESSE_RETRIEVER_DATA_FOLDER",
            reason="DATA_FOLDER_UNUSABLE",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(descriptor, 32).decode(errors="replace").strip()
        os.close(descriptor)
        raise FailedPrecondition(
            f"data folder {path} is in use by another retriever"
            + (f" (process {holder})" if holder else "")
            + "; stop it, or choose another JUSTESSE_RETRIEVER_DATA_FOLDER",
            reason="DATA_FOLDER_LOCKED",
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
