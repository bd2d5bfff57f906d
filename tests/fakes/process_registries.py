"""Every metric that a process can have, registered as the process does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Metric

from chassis.breaker_metrics import breaker_metrics_of
from chassis.certificate_metrics import certificate_metrics_of
from chassis.metrics import Metrics
from chat_models.usage import ChatUsage
from embedder_svc.usage import Usage as EmbedderUsage
from gateway.admission.admission_metrics import AdmissionSeries
from gateway.answers.answer_metrics import AnswerMetrics
from gateway.http.measurement import RequestMeasurement
from gateway.ingestion.movers.mover_metrics import mover_metrics_of, window_metrics_of
from gateway.jobs.job_metrics import JobMetrics
from gateway.stage_metrics import StageMetrics
from gateway.switches.switch_metrics import SwitchMetrics
from reranker_svc.usage import Usage as RerankerUsage
from retriever_svc.embedded.recall_metrics import recall_metrics_of
from retriever_svc.embedded.snapshots.snapshot_metrics import snapshot_metrics_of
from retriever_svc.embedded.upkeep_metrics import upkeep_metrics_of
from retriever_svc.milvus.repair_metrics import repair_metrics_of
from rewriter_svc.usage import RewriteUsage

Registering = Callable[[Metrics], object]


def _within(make: Callable[[CollectorRegistry], object]) -> Registering:
    return lambda metrics: make(metrics.registry)


PROCESSES: Mapping[str, tuple[Registering, ...]] = {
    "gateway": (
        certificate_metrics_of,
        breaker_metrics_of,
        ChatUsage,
        RequestMeasurement,
        *map(_within, (AdmissionSeries, AnswerMetrics, StageMetrics, SwitchMetrics)),
    ),
    "ingestion": (
        certificate_metrics_of,
        mover_metrics_of,
        window_metrics_of,
        _within(JobMetrics),
    ),
    "embedder": (certificate_metrics_of, breaker_metrics_of, EmbedderUsage),
    "retriever": (
        certificate_metrics_of,
        *map(
            _within, (recall_metrics_of, snapshot_metrics_of, upkeep_metrics_of, repair_metrics_of)
        ),
    ),
    "rewriter": (certificate_metrics_of, breaker_metrics_of, ChatUsage, RewriteUsage),
    "reranker": (certificate_metrics_of, breaker_metrics_of, ChatUsage, RerankerUsage),
}


class _Described(CollectorRegistry):
    """Keeps the collectors, which know the names of their labels."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[object] = []

    def register(self, collector: object) -> None:
        self.collectors.append(collector)
        super().register(collector)  # type: ignore[arg-type]


Row = tuple[str, str, tuple[str, ...], str]
"""Name as queries write it, type, labels, help."""


def registered(process: str) -> set[Row]:
    """Returns the metrics of a process."""
    metrics = Metrics(registry=_Described())
    for register in PROCESSES[process]:
        register(metrics)
    registry = metrics.registry
    assert isinstance(registry, _Described)
    return {row for collector in registry.collectors for row in _rows(collector)}


def _rows(collector: object) -> list[Row]:
    described: list[Metric] = list(collector.describe())  # type: ignore[attr-defined]
    labels = tuple(getattr(collector, "_labelnames", ()))
    return [
        (
            metric.name + ("_total" if metric.type == "counter" else ""),
            metric.type,
            labels,
            metric.documentation,
        )
        for metric in described
    ]
