"""The snapshots of all dense indexes of a data folder.

Written and loaded on the thread that builds graphs; forgotten and swept on the writer thread.

workspaces/<internal id>/dense/<space key>/manifest    names the files that count
workspaces/<internal id>/dense/<space key>/*.segment   one graph each; never changed
"""

import shutil
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeAlias
from weakref import ref

import structlog

from chassis.clock import wall
from retriever_svc.documents import IntVector
from retriever_svc.embedded.data_folder import DataFolder
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.snapshots.segment_file import read_segment, write_segment
from retriever_svc.embedded.snapshots.snapshot_manifest import (
    SegmentEntry,
    SnapshotManifest,
    read_manifest,
    write_manifest,
)
from retriever_svc.embedded.snapshots.snapshot_metrics import SnapshotMetrics
from retriever_svc.embedded.snapshots.snapshot_place import SealedGraphs, SnapshotPlace
from retriever_svc.embedded.snapshots.snapshot_rejection import RejectionReason, SnapshotRejected

_log = structlog.get_logger("retriever.snapshots")
_MANIFEST = "manifest"
# Writing costs as much as the whole graph is large, so it waits until this share has changed.
_CHANGED_SHARE = 0.2


LoadedGraph: TypeAlias = tuple[HnswGraph, IntVector]
"""A graph, and the ids of its rows."""


@dataclass(frozen=True, slots=True)
class _Saved:
    """What the manifest on disk names, and the graph of each entry as long as it is in use."""

    entries: tuple[tuple["ref[HnswGraph]", SegmentEntry], ...] = ()

    @property
    def row_count(self) -> int:
        return sum(entry.row_count for _, entry in self.entries)

    def holds(self, segments: Sequence[GraphSegment]) -> bool:
        """Whether it names the graphs of these segments and no others."""
        return len(segments) == len(self.entries) and all(
            self.entry_of(segment.graph) is not None for segment in segments
        )

    def entry_of(self, graph: HnswGraph) -> SegmentEntry | None:
        return next((entry for known, entry in self.entries if known() is graph), None)


class Snapshots:
    """Keeps at most one snapshot for each dense index."""

    def __init__(
        self,
        folder: DataFolder,
        store_identity: str,
        settings: DenseSettings,
        metrics: SnapshotMetrics,
    ) -> None:
        self._folder = folder
        self._store_identity = store_identity
        self._settings = settings
        self.metrics = metrics
        self._lock = Lock()
        self._forgotten: set[int] = set()
        self._on_disk: set[tuple[int, int]] = set()
        self._saved: dict[SnapshotPlace, _Saved] = {}

    def sweep(self) -> None:
        """Removes what a process that died has left unfinished; for the start."""
        for workspace_id in self._folder.workspace_ids():
            for path in self._spaces_path(workspace_id).glob("*"):
                if not path.name.isdecimal():
                    continue
                self._on_disk.add((workspace_id, int(path.name)))
                if not (path / _MANIFEST).exists():
                    self._drop(workspace_id, int(path.name))
                    continue
                try:
                    named = {entry.file for entry in read_manifest(path / _MANIFEST).segments}
                except SnapshotRejected:
                    continue  # `load` tells, and drops it
                try:
                    _remove_others(path, named)
                except OSError as error:
                    _log.warning("stray file not removed", error=str(error))

    def load(self, place: SnapshotPlace, seq: int) -> list[LoadedGraph]:
        """Returns graphs with the ids of their rows; none if there is no snapshot to trust.

        `seq` is the number of the last change that the store knows. A snapshot that is rejected
        is deleted.
        """
        path = self._path(place)
        if (place.workspace_id, place.space_key) not in self._on_disk:
            return []
        try:
            manifest = read_manifest(path / _MANIFEST)
            self._check(manifest, place, seq)
            loaded = [
                read_segment(path / entry.file, entry, place.dimension)
                for entry in manifest.segments
            ]
        except SnapshotRejected as rejected:
            _log.warning("snapshot dropped", workspace_id=place.workspace_id, why=str(rejected))
            self.metrics.rejected.labels(rejected.reason.value).inc()
            self._drop(place.workspace_id, place.space_key)
            return []
        self._saved[place] = _Saved(
            tuple(
                (ref(graph), entry)
                for (graph, _), entry in zip(loaded, manifest.segments, strict=True)
            )
        )
        self.metrics.loaded.inc()
        return loaded

    def save(self, graphs: SealedGraphs, *, whatever_changed: bool = False) -> bool:
        """Writes a snapshot if enough has changed since the last; returns whether it did.

        A failure is logged: the snapshot before, if any, stays valid.
        """
        saved = self._saved.get(graphs.place, _Saved())
        if not self._worth_writing(graphs, saved, whatever_changed=whatever_changed):
            return False
        try:
            return self._save(graphs, saved)
        except OSError as error:
            _log.warning(
                "snapshot not written", workspace_id=graphs.place.workspace_id, error=str(error)
            )
            return False

    def replace(self, graphs: SealedGraphs) -> bool:
        """Sees to it that nothing but these graphs is on disk; returns whether that is so."""
        saved = self._saved.get(graphs.place, _Saved())
        if graphs.segments and saved.holds(graphs.segments):
            return True
        row_count = sum(segment.row_count for segment in graphs.segments)
        if not 0 < row_count <= self._settings.snapshot_row_limit:
            self._drop(graphs.place.workspace_id, graphs.place.space_key)
            return not self._path(graphs.place).exists()
        try:
            self._save(graphs, saved)
        except OSError as error:
            _log.warning(
                "snapshot not replaced", workspace_id=graphs.place.workspace_id, error=str(error)
            )
            return False
        return True

    def keep(self, workspace_id: int, space_keys: Collection[int]) -> None:
        """Deletes the snapshots of a workspace's other spaces."""
        for known in [known for known in self._on_disk if known[0] == workspace_id]:
            if known[1] not in space_keys:
                self._drop(*known)

    def forget(self, workspace_id: int) -> None:
        """Notes that a workspace is deleted: what is being written of it gets no name any more.

        Its folder is removed by whoever calls this.
        """
        with self._lock:
            self._forgotten.add(workspace_id)
            self._on_disk = {known for known in self._on_disk if known[0] != workspace_id}
        for place in [place for place in self._saved if place.workspace_id == workspace_id]:
            self._saved.pop(place, None)

    def _worth_writing(
        self, graphs: SealedGraphs, saved: _Saved, *, whatever_changed: bool
    ) -> bool:
        row_count = sum(segment.row_count for segment in graphs.segments)
        if not 0 < row_count <= self._settings.snapshot_row_limit:
            return False
        if whatever_changed:
            return not saved.holds(graphs.segments)
        return (
            not saved.entries
            or abs(row_count - saved.row_count) >= _CHANGED_SHARE * saved.row_count
        )

    def _save(self, graphs: SealedGraphs, saved: _Saved) -> bool:
        place = graphs.place
        path = self._path(place)
        with self._lock:
            if place.workspace_id in self._forgotten:
                return False
            path.mkdir(parents=True, exist_ok=True)
            self._on_disk.add((place.workspace_id, place.space_key))
        entries = []
        for segment in graphs.segments:
            entry = saved.entry_of(segment.graph)
            if entry is None:
                file = path / f"{uuid.uuid4().hex}.segment"
                entry = write_segment(file, segment, lambda: reach(Failpoint.SNAPSHOT_WRITTEN))
                reach(Failpoint.SNAPSHOT_RENAMED)
            entries.append((ref(segment.graph), entry))
        reach(Failpoint.SNAPSHOT_BEFORE_MANIFEST)
        manifest = SnapshotManifest(
            store_identity=self._store_identity,
            workspace_id=place.workspace_id,
            space_key=place.space_key,
            space_id=place.space_id,
            dimension=place.dimension,
            seq=graphs.seq,
            graph=self._settings.graph_shape(),
            segments=tuple(entry for _, entry in entries),
        )
        with self._lock:
            if place.workspace_id in self._forgotten:
                return False
            write_manifest(path / _MANIFEST, manifest)
            self._saved[place] = _Saved(tuple(entries))
        _remove_others(path, {entry.file for _, entry in entries})
        self.metrics.written.inc()
        self.metrics.written_at.set(wall())
        return True

    def _check(self, manifest: SnapshotManifest, place: SnapshotPlace, seq: int) -> None:
        belongs = (
            manifest.store_identity,
            manifest.workspace_id,
            manifest.space_key,
            manifest.space_id,
            manifest.dimension,
        )
        here = (
            self._store_identity,
            place.workspace_id,
            place.space_key,
            place.space_id,
            place.dimension,
        )
        if belongs != here:
            raise SnapshotRejected(RejectionReason.FOREIGN, f"of {belongs}, not {here}")
        if manifest.seq > seq:
            raise SnapshotRejected(RejectionReason.NEWER, f"change {manifest.seq}, store {seq}")
        if manifest.graph != self._settings.graph_shape():
            raise SnapshotRejected(RejectionReason.SETTINGS, str(manifest.graph))
        if manifest.row_count > self._settings.snapshot_row_limit:
            raise SnapshotRejected(RejectionReason.SIZE, f"{manifest.row_count} rows")

    def _drop(self, workspace_id: int, space_key: int) -> None:
        with self._lock:
            self._on_disk.discard((workspace_id, space_key))
            self._remove(self._spaces_path(workspace_id) / str(space_key))
        for place in list(self._saved):
            if (place.workspace_id, place.space_key) == (workspace_id, space_key):
                self._saved.pop(place, None)

    def _remove(self, path: Path) -> None:
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as error:
            _log.warning("snapshot not removed", error=str(error))

    def _spaces_path(self, workspace_id: int) -> Path:
        return self._folder.workspace_path(workspace_id) / "dense"

    def _path(self, place: SnapshotPlace) -> Path:
        return self._spaces_path(place.workspace_id) / str(place.space_key)


def _remove_others(path: Path, named: Collection[str]) -> None:
    for file in path.iterdir():
        if file.name != _MANIFEST and file.name not in named:
            file.unlink(missing_ok=True)
