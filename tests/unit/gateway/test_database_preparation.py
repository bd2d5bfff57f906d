"""The URL of the gateway's database may stand in a file, and a step of its own prepares it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chassis.settings import SettingsError, read_settings
from gateway.database.schema import SCHEMA_VERSION
from gateway.ingestion.settings import IngestionSettings
from gateway.settings import GatewaySettings

URL = "sqlite+aiosqlite:////data/g.sqlite"


@pytest.mark.parametrize("process", ["GATEWAY", "INGESTION"])
def test_the_url_may_stand_in_a_file(tmp_path: Path, process: str) -> None:
    """So that its password is in no variable; an empty variable is none."""
    kind: type[Any] = GatewaySettings if process == "GATEWAY" else IngestionSettings
    file = tmp_path / "url"
    file.write_text(f"{URL}\n")
    prefix = f"JUSTESSE_{process}_DATABASE_URL"

    for environment in ({f"{prefix}_FILE": str(file)}, {f"{prefix}_FILE": str(file), prefix: ""}):
        assert read_settings(kind, environment).database_url == URL


@pytest.mark.parametrize(
    ("content", "url", "words"),
    [
        (URL, URL, "both set"),
        ("", None, "is empty"),
        (None, None, "cannot be read"),
        ("secret", None, "no database URL"),
    ],
)
def test_a_file_of_no_use_is_told_and_not_shown(
    tmp_path: Path, content: str | None, url: str | None, words: str
) -> None:
    """With the file's name; what it holds may be a secret."""
    file = tmp_path / "url"
    if content is not None:
        file.write_text(content)
    environment = {"JUSTESSE_GATEWAY_DATABASE_URL_FILE": str(file)}
    if url is not None:
        environment["JUSTESSE_GATEWAY_DATABASE_URL"] = url

    with pytest.raises(SettingsError, match=words) as refused:
        read_settings(GatewaySettings, environment)
    assert "secret" not in str(refused.value)


def prepare(url: str) -> subprocess.CompletedProcess[str]:
    """Runs the step in a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
    return subprocess.run(
        [sys.executable, "-m", "gateway.database"],
        env={**inherited, "JUSTESSE_GATEWAY_DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_step_brings_the_schema_up_to_date(tmp_path: Path) -> None:
    """Also where nothing is there yet, and a second time."""
    file = tmp_path / "data" / "g.sqlite"

    done = [prepare(f"sqlite+aiosqlite:///{file}") for _ in range(2)]

    assert [each.returncode for each in done] == [0, 0]
    connection = sqlite3.connect(file)
    found = connection.execute("SELECT version_num FROM justesse_schema_version").fetchall()
    connection.close()
    assert found == [(SCHEMA_VERSION,)]


def test_a_lost_database_ends_the_step_without_a_traceback() -> None:
    """With exit code 1 and one line, which does not show the password."""
    done = prepare("postgresql+psycopg://user:hidden@127.0.0.1:1/name")

    assert done.returncode == 1
    assert "database is lost" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stdout + done.stderr
