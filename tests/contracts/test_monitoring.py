"""Alerts and dashboard ask for metrics that exist, and every alert leads to what to do about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import promql_parser
import pytest
import yaml

from gateway.http.surroundings import ROUTE_BOUNDS
from gateway.receipt import StageOutcome
from justesse.gateway.v1 import search_pb2
from justesse.retriever.v1 import documents_pb2
from tests.fakes.metric_table import metric_table

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "k8s" / "components" / "monitoring"
OPERATIONS = ROOT / "docs" / "operations.md"
PROCESSES = {"embedder", "gateway", "ingestion", "reranker", "retriever", "rewriter"}
# What the operator's scraping adds to every series.
SCRAPED = frozenset({"job", "pod", "instance", "namespace"})
# Of Prometheus, of its client, and of Kubernetes.
FOREIGN = {
    "up": frozenset[str](),
    "process_resident_memory_bytes": frozenset[str](),
    "kubelet_volume_stats_available_bytes": frozenset({"persistentvolumeclaim"}),
    "kubelet_volume_stats_capacity_bytes": frozenset({"persistentvolumeclaim"}),
}
GROUPS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["spec"][
    "groups"
]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
PANELS: list[dict[str, Any]] = json.loads((FOLDER / "justesse.json").read_text())["panels"]
SERIES = {
    **FOREIGN,
    **{rule["record"]: frozenset[str]() for rule in RULES if "record" in rule},
    **{name: labels for row in metric_table().values() for name, labels in row.series.items()},
}


def within(expression: Any) -> Iterator[Any]:
    """Yields an expression and all that it is made of."""
    yield expression
    for name in ("lhs", "rhs", "expr", "param", "vector_selector"):
        inner = getattr(expression, name, None)
        if inner is not None and not isinstance(inner, str):
            yield from within(inner)
    for argument in getattr(expression, "args", None) or ():
        yield from within(argument)


def queries() -> list[tuple[str, str]]:
    """Returns all queries by where they stand."""
    return [
        *((rule.get("alert") or rule["record"], rule["expr"]) for rule in RULES),
        *((panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]),
    ]


def problems(query: str) -> list[str]:
    """Returns what a query asks for that does not exist."""
    parsed = promql_parser.parse(query.replace("$__rate_interval", "5m"))
    parts = list(within(parsed))
    selectors = [part for part in parts if isinstance(part, promql_parser.VectorSelector)]
    found = [f"no metric {one.name}" for one in selectors if one.name not in SERIES]
    known = SCRAPED.union(*(SERIES.get(one.name, frozenset()) for one in selectors))
    for one in selectors:
        labels = SERIES.get(one.name, frozenset()) | SCRAPED
        names = {matcher.name for matcher in one.matchers.matchers}
        found += [f"{one.name} has no label {label}" for label in names - labels]
    for part in parts:
        if isinstance(part, promql_parser.AggregateExpr) and part.modifier is not None:
            inside = [
                one for one in within(part.expr) if isinstance(one, promql_parser.VectorSelector)
            ]
            labels = known.intersection(
                *(SERIES.get(one.name, frozenset()) | SCRAPED for one in inside)
            )
            found += [
                f"no label {label} to group by" for label in set(part.modifier.labels) - labels
            ]
    return found


@pytest.mark.parametrize(("place", "query"), queries())
def test_queries_ask_for_metrics_and_labels_that_exist(place: str, query: str) -> None:
    """By Prometheus's own grammar, and the table of metrics."""
    assert problems(query) == [], place


@pytest.mark.parametrize(
    "query",
    [
        "sum(rate(no_such_metric[5m])) > 1",
        'up and rate(justesse_stages_total{colour="red"}[5m]) > 0',
        "sum by (colour) (justesse_calls_waiting) > 0",
        "rpc_server_call_duration_seconds > 1",
        'rate(rpc_client_call_duration_seconds_count{le="1"}[$__rate_interval])',
    ],
)
def test_what_does_not_exist_is_found(query: str) -> None:
    """Inside of functions, aggregations and both sides of an operator; histograms by series."""
    assert problems(query)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: str(alert["alert"]))
def test_every_alert_says_what_it_is_and_what_to_do(alert: dict[str, Any]) -> None:
    """With a severity, words, values of labels that its query keeps, and a section that exists."""
    said = alert["annotations"]
    assert alert["labels"]["severity"] in {"warning", "critical"}
    assert said["summary"]
    assert said["description"]
    file, _, anchor = said["runbook_url"].partition("#")
    sections = re.findall(r"^### (\w+)\n(.+)", (ROOT / file).read_text(), re.MULTILINE)
    assert anchor in {heading.lower() for heading, text in sections if len(text) > 40}
    for label in re.findall(r"\$labels\.(\w+)", said["summary"] + said["description"]):
        assert label in alert["expr"] or label in SCRAPED, label


def test_values_of_labels_are_those_that_the_code_gives() -> None:
    """Methods are in the contracts, outcomes and routes in the code: a value that never comes would
    keep an alert silent."""
    services = (
        *search_pb2.DESCRIPTOR.services_by_name.values(),
        *documents_pb2.DESCRIPTOR.services_by_name.values(),
    )
    given = {
        "rpc_method": {
            f"{one.full_name}/{method.name}" for one in services for method in one.methods
        },
        "http_route": {path for _, path in ROUTE_BOUNDS},
        "outcome": {one.value for one in StageOutcome} | {"indexed", "failed", "taken", "refused"},
        "rpc_response_status_code": {code.name for code in grpc.StatusCode},
    }
    asked = {
        (matcher.name, value)
        for _, query in queries()
        for part in within(promql_parser.parse(query.replace("$__rate_interval", "5m")))
        if isinstance(part, promql_parser.VectorSelector)
        for matcher in part.matchers.matchers
        if matcher.name in given
        for value in matcher.value.split("|")
    }
    assert {name for name, _ in asked} == set(given)
    assert [(name, value) for name, value in asked if value not in given[name]] == []


def test_every_section_is_about_an_alert() -> None:
    """The other way round, and no alert has two."""
    _, _, chapter = OPERATIONS.read_text().partition("## What each alert means")
    assert re.findall(r"^### (\w+)", chapter, re.MULTILINE) == [rule["alert"] for rule in ALERTS]


def test_the_processes_of_the_rules_are_those_there_are() -> None:
    """A new process must not be left unwatched."""
    (down,) = [rule for rule in ALERTS if rule["alert"] == "JustesseServiceDown"]
    match = re.search(r'job=~"([^"]+)"', down["expr"])
    assert match is not None
    assert set(match[1].split("|")) == PROCESSES
    assert {row for rows in metric_table().values() for row in rows.processes} - {
        "all"
    } == PROCESSES


def test_the_search_objective_is_watched_over_two_windows_each() -> None:
    """A short window, so that an alert ends soon, and a long one, so that it means something."""
    records = {rule["record"] for rule in RULES if "record" in rule}
    used = {
        rule["alert"]: set(re.findall(r"justesse:search_errors:\w+", rule["expr"]))
        for rule in ALERTS
        if "SearchErrors" in rule["alert"]
    }
    assert [len(windows) for windows in used.values()] == [2, 2]
    assert set().union(*used.values()) == records
