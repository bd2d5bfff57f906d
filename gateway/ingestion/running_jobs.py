"""Works on ingestion jobs in this process, over the gateway's database and a data folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from chassis.background_task import background_task
from chassis.binding import EXIT_CONFIG, EXIT_UNAVAILABLE, StartError
from chassis.errors import FailedPrecondition, Unavailable
from chassis.metrics import Metrics
from gateway.database.database import Database
from gateway.document_jobs import INGESTION
from gateway.ingestion.document_ingestion import DocumentIngestion
from gateway.ingestion.embedding_calls import EmbeddingCalls
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.read_pages import ReadPagesFolder
from gateway.ingestion.ingestion_work import IngestionWork
from gateway.ingestion.job_upkeep import JobUpkeep
from gateway.ingestion.kept_documents import KeptDocuments
from gateway.ingestion.kept_files import KeptFiles
from gateway.ingestion.originals import Originals
from gateway.ingestion.originals_upkeep import OriginalsUpkeep
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.passage_vectors import PassageVectors
from gateway.ingestion.passage_windows import PassageWindows, WindowChoice
from gateway.ingestion.previous_versions import PreviousVersions
from gateway.ingestion.queued_ingestion import QueuedIngestion
from gateway.ingestion.received_files import ReceivingFolder
from gateway.ingestion.settings import IngestionSettings
from gateway.ingestion.submissions import Submissions
from gateway.ingestion.token_rates import TokenRates
from gateway.jobs.holders import Holders
from gateway.jobs.job import JobState
from gateway.jobs.job_changes import JobChanges
from gateway.jobs.job_metrics import JobMetrics
from gateway.jobs.job_store import JobStore
from gateway.jobs.queue_counts import keep_counting
from gateway.jobs.task_queue import TaskQueue
from gateway.jobs.task_runner import RunnerTerms, TaskRunner
from gateway.jobs.withdrawals import Withdrawals
from gateway.ports import Embedder

_log = structlog.get_logger("gateway.ingestion")


@asynccontextmanager
async def running_jobs(
    settings: IngestionSettings,
    embedder: Embedder,
    calls: EmbeddingCalls,
    store: PassageStore,
    *,
    metrics: Metrics,
) -> AsyncIterator[QueuedIngestion]:
    """Works on jobs while inside; yields what takes them on.

    What processes have left behind that died is taken up at once. Raises StartError where the
    database cannot be used.
    """
    async with AsyncExitStack() as stack:
        database = await prepared_database(settings.database_url)
        stack.push_async_callback(database.close)
        changes = JobChanges()
        jobs = JobStore(database, tell=changes.tell)
        queue = TaskQueue(database, tell=changes.tell)
        receiving = ReceivingFolder(settings.data_folder / "incoming")
        swept = receiving.sweep()
        if swept:
            _log.info("unfinished files removed", count=swept)
        kept = KeptFiles(settings.data_folder / "received")
        processes = ExtractionProcesses(
            settings.extraction_limits(), count=settings.parser_processes
        )
        stack.push_async_callback(processes.close)
        ingestion = assembled(settings, embedder, calls, store, processes)
        work = IngestionWork(
            ingestion,
            PreviousVersions(ingestion, settings.data_folder / "incoming"),
            receiving,
            kept,
        )
        holders = Holders(settings.data_folder / "holders")
        holder = stack.enter_context(holders.claimed())
        await _free_dead(holders, queue)
        job_metrics = JobMetrics(metrics.registry)
        runner = TaskRunner(
            queue,
            {INGESTION: (JobState.EXTRACTING, work)},
            RunnerTerms(
                holder,
                slots=settings.files_at_once,
                lease_s=settings.job_lease_s,
                retries=settings.retry_policy(),
            ),
            metrics=job_metrics,
        )
        upkeep = JobUpkeep(jobs, kept, settings.job_retention_days * 86_400.0)
        tidying = (upkeep.keep_tidy(), OriginalsUpkeep(store, ingestion.originals).keep_tidy())
        for task in (*tidying, keep_counting(queue, INGESTION, job_metrics)):
            await stack.enter_async_context(background_task(task))
        await stack.enter_async_context(runner.running())
        yield QueuedIngestion(
            Submissions(jobs, store, receiving, kept),
            KeptDocuments(store, ingestion.originals, settings.data_folder / "incoming"),
            jobs,
            Withdrawals(database, tell=changes.tell),
            changes,
            runner.wake,
        )


async def prepared_database(url: str) -> Database:
    """Opens the gateway's database with its tables up to date; raises StartError."""
    try:
        database = Database(url)
    except ModuleNotFoundError as error:
        raise StartError(
            f"JUSTESSE_INGESTION_DATABASE_URL asks for a driver that is not installed: "
            f"{error.name}; install it or name another",
            exit_code=EXIT_CONFIG,
        ) from error
    try:
        await database.prepare()
    except (FailedPrecondition, Unavailable) as error:
        await database.close()
        code = EXIT_UNAVAILABLE if isinstance(error, Unavailable) else EXIT_CONFIG
        raise StartError(f"JUSTESSE_INGESTION_DATABASE_URL: {error}", exit_code=code) from error
    return database


def assembled(
    settings: IngestionSettings,
    embedder: Embedder,
    calls: EmbeddingCalls,
    store: PassageStore,
    processes: ExtractionProcesses,
) -> DocumentIngestion:
    """Returns what takes received files in, over its data folder."""
    return DocumentIngestion(
        store=store,
        vectors=PassageVectors(calls),
        windows=PassageWindows(
            calls, settings.windows if settings.windows_first else WindowChoice.OFF
        ),
        rates=TokenRates(embedder),
        processes=processes,
        read_pages=opened_read_pages(settings),
        originals=opened_originals(settings),
    )


def opened_read_pages(settings: IngestionSettings) -> ReadPagesFolder:
    """Opens the folder of pages read in their images, swept of what nobody came back to."""
    read_pages = ReadPagesFolder(settings.data_folder / "read-pages")
    swept = read_pages.sweep(settings.job_retention_days * 86_400.0)
    if swept:
        _log.info("read pages removed", files=swept)
    return read_pages


def opened_originals(settings: IngestionSettings) -> Originals:
    """Opens the place of originals; raises StartError where it cannot be used."""
    try:
        return Originals(settings.originals_url or settings.data_folder / "originals")
    except ValueError as error:
        raise StartError(
            f"JUSTESSE_INGESTION_ORIGINALS_URL: {error}", exit_code=EXIT_CONFIG
        ) from error
    except Unavailable as error:
        raise StartError(
            f"JUSTESSE_INGESTION_ORIGINALS_URL: {error}", exit_code=EXIT_UNAVAILABLE
        ) from error


async def _free_dead(holders: Holders, queue: TaskQueue) -> None:
    for name in holders.dead():
        freed = await queue.free(name)
        holders.forget(name)
        _log.info("files of a dead process taken up", holder=name, files=freed)
