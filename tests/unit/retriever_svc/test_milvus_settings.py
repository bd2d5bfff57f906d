"""Settings of the engine over PostgreSQL and Milvus."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chassis.settings import SettingsError, read_settings
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.settings import RetrieverSettings
from tests.fakes.milvus_stores import shared_postgres

ROOT = Path(__file__).resolve().parents[3]
STORE = "postgresql+psycopg://user:word@host/name"
NEEDED = {"ENGINE": "milvus", "STORE_URL": STORE, "MILVUS_URI": "http://milvus:19530"}


def settings_of(**given: str) -> RetrieverSettings:
    """Returns the settings of an environment."""
    return read_settings(
        RetrieverSettings, {f"JUSTESSE_RETRIEVER_{name}": value for name, value in given.items()}
    )


def test_what_is_not_set_is_decided_by_the_engine() -> None:
    """But for the breadth of searches, which is that of the embedded one."""
    settings = settings_of(**NEEDED)
    expected = MilvusSettings(STORE, "http://milvus:19530", search_breadth=settings.search_breadth)

    assert settings.milvus() == expected


def test_secrets_may_stand_in_files(tmp_path: Path) -> None:
    """The URL with its password, and the token."""
    (tmp_path / "url").write_text(f"{STORE}\n")
    (tmp_path / "token").write_text("root:word\n")
    settings = settings_of(
        ENGINE="milvus",
        MILVUS_URI="http://milvus:19530",
        STORE_URL_FILE=str(tmp_path / "url"),
        MILVUS_TOKEN_FILE=str(tmp_path / "token"),
        MILVUS_DATABASE="docs",
        MILVUS_TIMEOUT_S="3",
        MILVUS_THREADS="5",
        NEIGHBOUR_COUNT="32",
        TITLE_BOOST="4",
    ).milvus()

    assert (settings.store_url, settings.milvus_token) == (STORE, "root:word")
    assert (settings.milvus_database, settings.timeout_s) == ("docs", 3.0)
    assert (settings.thread_count, settings.neighbour_count, settings.title_boost) == (5, 32, 4.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ENGINE": "milvus"}, "MILVUS_URI"),
        ({**NEEDED, "STORE_URL": "sqlite:///x"}, "STORE_URL"),
        ({**NEEDED, "STORE_URL_FILE": "/x"}, "STORE_URL and STORE_URL_FILE"),
        ({**NEEDED, "MILVUS_TOKEN": "a", "MILVUS_TOKEN_FILE": "/x"}, "MILVUS_TOKEN"),
        ({"ENGINE": "elsewhere"}, "embedded"),
    ],
)
def test_mistakes_are_told(given: dict[str, str], message: str) -> None:
    """At the start, in one line, and without the password."""
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)

    assert len(caught.value.lines) == 1
    assert message in caught.value.lines[0]
    assert "word" not in caught.value.lines[0]


def run_module(code: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own with these variables."""
    inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
    variables = {f"JUSTESSE_RETRIEVER_{name}": value for name, value in given.items()}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_missing_extra_is_named() -> None:
    """In one line that says what to install, and without a traceback."""
    code = (
        "import sys; sys.modules['pymilvus'] = None\n"
        "from retriever_svc.__main__ import main\nmain()"
    )
    ended = run_module(code, **NEEDED)

    assert ended.returncode == 1
    assert "pip install 'justesse[milvus]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_store_is_migrated_before_the_first_process() -> None:
    """By a step of its own, which may be repeated; a store that is lost is an error of it."""
    code = "from retriever_svc.milvus.store.__main__ import main\nmain()"
    url = shared_postgres().new_database()
    for _ in range(2):
        assert run_module(code, **{**NEEDED, "STORE_URL": url}).returncode == 0
    ended = run_module(code, **{**NEEDED, "STORE_URL": "postgresql+psycopg://u@127.0.0.1:1/x"})

    assert ended.returncode == 1
    assert "store is lost" in ended.stderr
    assert "Traceback" not in ended.stderr
