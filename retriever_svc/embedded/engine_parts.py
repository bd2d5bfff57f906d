"""The parts of the embedded engine, opened in order and put together."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection

from prometheus_client import CollectorRegistry

from retriever_svc.embedded.checkpoints import Checkpoints
from retriever_svc.embedded.compactions import Compactions
from retriever_svc.embedded.data_folder import DataFolder
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.restoration import Restoration
from retriever_svc.embedded.disk_reserve import DiskReserve
from retriever_svc.embedded.document_reader import DocumentReader
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.graph_builder import GraphBuilder
from retriever_svc.embedded.lexical.compaction import LexicalCompactor
from retriever_svc.embedded.lexical.lexical_indexes import LexicalIndexes
from retriever_svc.embedded.merges import Merges
from retriever_svc.embedded.published_state import DueBuild, GraphsPublished, PublishedState
from retriever_svc.embedded.publisher import Publisher
from retriever_svc.embedded.purges import Purges
from retriever_svc.embedded.recall_sampler import RecallSampler, recall_sampler
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.snapshot_reader import SnapshotReader
from retriever_svc.embedded.snapshots.snapshot_metrics import snapshot_metrics_of
from retriever_svc.embedded.snapshots.snapshots import Snapshots
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.write_ahead_log import WriteAheadLog
from retriever_svc.embedded.upkeep import Upkeep
from retriever_svc.embedded.upkeep_metrics import upkeep_metrics_of
from retriever_svc.embedded.writer import Writer


@dataclass(frozen=True, slots=True)
class EngineParts:
    """Holds what answers calls."""

    documents: DocumentReader
    reading: ThreadPoolExecutor
    """The thread of `documents`."""
    worker: SearchWorker
    builder: GraphBuilder
    writer: Writer
    sampler: RecallSampler | None
    """None where no searches are sampled."""
    open_reader: Callable[[], Connection]
    """Opens a connection to the store that only reads; whoever calls it closes it."""


def open_parts(
    stack: ExitStack,
    settings: EmbeddedSettings,
    *,
    now: Callable[[], datetime],
    registry: CollectorRegistry,
) -> EngineParts:
    """Opens the data folder and loads every workspace; closed, in reverse order, by `stack`.

    Raises FailedPrecondition if the folder is in use, unfit or written by a newer build.
    """
    folder = DataFolder(
        settings.data_folder, allow_network_file_system=settings.allow_network_file_system
    )
    stack.callback(folder.close)
    # Free while opening, which must succeed on a full disk too.
    reserve = DiskReserve(folder.reserve_path, settings.disk_reserve_bytes)
    stack.callback(reserve.release)
    store = Store(folder.store_path)
    stack.callback(store.close)
    lexical = LexicalIndexes(folder, store.identity, settings.lexical)
    stack.callback(lexical.close)
    documents = DocumentReader(store.open_reader())
    stack.callback(documents.close)
    sampler = recall_sampler(settings.recall_sample_share, registry)
    if sampler is not None:
        stack.callback(sampler.close)
    worker = SearchWorker(
        PublishedState(
            SnapshotReader(store.open_reader()),
            settings.dense,
            sampler,
            passage_cache_bytes=settings.passage_cache_bytes,
        )
    )
    stack.callback(worker.close)
    snapshots = Snapshots(folder, store.identity, settings.dense, snapshot_metrics_of(registry))

    def publish_graph(due: DueBuild, outcome: HnswGraph | Restoration | None) -> GraphsPublished:
        return worker.submit(PublishedState.publish_graph, due, outcome).result()

    builder = GraphBuilder(settings.dense, snapshots, publish_graph)
    stack.callback(builder.close)
    compactor = LexicalCompactor(store.open_reader)
    stack.callback(compactor.close)
    compactions = Compactions(store, lexical, compactor, worker)
    merges = Merges(store, lexical, worker)
    publisher = Publisher(
        store, lexical, compactions, merges, worker, snapshots, settings.dense, builder.build
    )
    publisher.load_all()
    metrics = upkeep_metrics_of(registry)
    log = WriteAheadLog(folder.store_path, settings.log_limit_bytes, metrics)
    checkpoints = Checkpoints(store, log, worker)
    purges = Purges(
        store,
        worker,
        compactions,
        builder,
        checkpoints,
        metrics,
        within_s=settings.purge_within_s,
        vacuum_limit_bytes=settings.vacuum_limit_bytes,
        now=now,
    )
    purges.load()
    upkeep = Upkeep(store, publisher, checkpoints, compactions, merges, purges, reserve)
    reading = ThreadPoolExecutor(1, thread_name_prefix="documents")
    stack.callback(reading.shutdown)
    writer = Writer(
        store,
        publisher,
        checkpoints,
        purges,
        upkeep,
        reserve,
        queue_limit=settings.write_queue_limit,
    )
    stack.callback(writer.close)
    return EngineParts(documents, reading, worker, builder, writer, sampler, store.open_reader)
