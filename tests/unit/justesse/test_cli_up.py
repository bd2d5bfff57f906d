"""`justesse up` as a process of its own, with small services in the place of the real ones."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from justesse.cli.local_mesh.services import START_ORDER

ROOT = Path(__file__).parents[3]
MAIN = """
from tests.fakes.small_service import main

main({name!r})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder whose packages shadow the real services."""
    for service in START_ORDER:
        package = tmp_path / "packages" / service.module.replace(".", "/")
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(MAIN.format(name=service.name))
    return tmp_path


@contextmanager
def up(folder: Path, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """Runs `justesse up --json` in the folder; kills it if the test forgets it."""
    inherited = {name: value for name, value in os.environ.items() if "JUSTESSE" not in name}
    process = subprocess.Popen(
        [sys.executable, "-m", "justesse", "up", "--json", *arguments],
        cwd=folder,
        env={
            **inherited,
            "PYTHONPATH": f"{folder / 'packages'}:{ROOT}",
            "SMALL_SERVICE_STOPPED": str(folder / "stopped"),
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def addresses_of(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """Reads the JSON value that `up` writes once all are ready."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            addresses: dict[str, Any] = json.loads("".join(lines))
            return addresses
    raise AssertionError(f"up ended: {process.communicate()[1]}")


def _error_of(errors: str) -> str:
    """Reads the message of the JSON object that ends a failed command's standard error."""
    message: str = json.loads(errors.splitlines()[-1])["error"]["message"]
    return message


def wait_for_stops(folder: Path) -> list[str]:
    """Waits until all services have stopped; returns their names in order."""
    stopped = folder / "stopped"
    for _ in range(150):
        names = stopped.read_text().split() if stopped.exists() else []
        if len(names) == len(START_ORDER):
            return names
        time.sleep(0.02)
    raise AssertionError(f"only {names} stopped")


def test_mesh_starts_and_drains_in_order(folder: Path) -> None:
    """Once addresses are told, all are ready; SIGTERM stops the gateway first, and exits with 0."""
    with up(folder, "--free-ports") as process:
        addresses = addresses_of(process)
        assert json.loads((folder / "justesse-data/address.json").read_text()) == addresses
        assert addresses["docs"] == f"{addresses['http']}/docs"
        assert set(addresses["services"]) == {service.name for service in START_ORDER}
        log = folder / "justesse-data/logs/gateway.log"
        assert log.read_text() == "gateway serves\n"
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=30)
        assert (process.returncode, output) == (0, "")
    assert wait_for_stops(folder)[:2] == ["gateway", "ingestion"]
    assert "retriever  ready" in errors
    assert "gateway    stopped" in errors
    assert not (folder / "justesse-data/address.json").exists()


def test_killed_mesh_leaves_no_services(folder: Path) -> None:
    """Even SIGKILL, which nothing can answer, ends the services too."""
    with up(folder, "--free-ports") as process:
        addresses_of(process)
        process.kill()
    assert sorted(wait_for_stops(folder)) == sorted(service.name for service in START_ORDER)


def test_service_that_does_not_start_ends_all(folder: Path) -> None:
    """Its last words are shown, the others are stopped, and one line says what happened."""
    with up(folder, "--free-ports", SMALL_SERVICE_FAILS="retriever") as process:
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (7, "")
    assert "retriever | retriever: settings: 1 to correct" in errors
    assert _error_of(errors).startswith("retriever did not start: exit code 1")
    assert "Traceback" not in errors


def test_second_mesh_in_a_folder_is_refused(folder: Path) -> None:
    """Two meshes never write into one folder; the message names the process."""
    with up(folder, "--free-ports") as first:
        addresses_of(first)
        with up(folder, "--free-ports") as second:
            errors = second.communicate(timeout=30)[1]
        assert second.returncode == 7
        assert f"(process {first.pid})" in _error_of(errors)
        first.terminate()
        first.communicate(timeout=30)


def test_ill_formed_port_is_wrong_usage(folder: Path) -> None:
    """A variable that is no port is told as such before anything starts."""
    with up(folder, JUSTESSE_RETRIEVER_PORT="many") as process:
        errors = process.communicate(timeout=30)[1]
    assert process.returncode == 2
    assert _error_of(errors).startswith("JUSTESSE_RETRIEVER_PORT='many' is no port")
