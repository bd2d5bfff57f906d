"""The table of metrics in docs/metrics.md is what the processes have, and the other way round."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from chassis.metrics import Metrics
from tests.fakes.metric_table import TABLE, metric_table
from tests.fakes.process_registries import PROCESSES, registered

ROOT = TABLE.parents[1]
PACKAGES = (
    *("chassis", "chat_models", "text_analysis", "ranking_formula"),
    *("embedder_svc", "retriever_svc", "rewriter_svc", "reranker_svc", "gateway"),
)
KINDS = {"Counter", "Gauge", "Histogram", "Summary", "Info", "Enum"}
UNITS = {"_timestamp_seconds": "seconds since 1970", "_seconds": "seconds", "_bytes": "bytes"}


@pytest.mark.parametrize("process", PROCESSES)
def test_the_table_says_what_a_process_has(process: str) -> None:
    """Name, type, labels and meaning, both ways."""
    rows = {
        (row.name, row.kind, row.labels, row.meaning)
        for row in metric_table().values()
        if row.processes in {(process,), ("all",)} or process in row.processes
    }
    assert rows == registered(process)


def test_units_are_those_of_the_names() -> None:
    """Where a name ends in a unit, the table says the same; elsewhere it says some."""
    for row in metric_table().values():
        named = [unit for suffix, unit in UNITS.items() if row.name.endswith(suffix)]
        assert row.unit == named[0] if named else row.unit, row.name


def test_no_metric_is_made_unseen() -> None:
    """Every metric that any code makes is one that the registries of this test hold."""
    known = {name for process in PROCESSES for name, *_ in registered(process)}
    made = {
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in _made_in(path)
    }
    assert made
    assert made == {name.removesuffix("_total") for name in known}


def test_names_and_labels_follow_the_rules_of_prometheus() -> None:
    """Lower snake case; a counter's name does not say total twice."""
    for row in metric_table().values():
        for word in (row.name, *row.labels):
            assert re.fullmatch(r"[a-z][a-z0-9_]*", word), word
        assert row.name.endswith("_total") == (row.kind == "counter")
    assert Metrics().exposition()


def _made_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "prometheus_client"
        for alias in node.names
    }
    return [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in KINDS & imported
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ]
