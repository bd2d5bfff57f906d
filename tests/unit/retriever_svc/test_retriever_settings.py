"""Settings of the retriever."""

from pathlib import Path

import pytest

from chassis.settings import SettingsError, read_settings
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.settings import RetrieverSettings
from retriever_svc.wire.uploads import UploadLimits


def test_defaults_are_those_of_the_engine() -> None:
    """What nobody sets is decided in one place only."""
    settings = read_settings(RetrieverSettings, {"JUSTESSE_RETRIEVER_DATA_FOLDER": "/data"})

    assert settings.embedded() == EmbeddedSettings(Path("/data"))
    assert settings.upload_limits() == UploadLimits()
    assert (settings.port, settings.management_port, settings.metrics_port) == (50052, 51052, 52052)


def test_variables_reach_the_engine() -> None:
    """Each variable changes what it names."""
    given = {
        "FLAT_ROW_LIMIT": "7",
        "GROWING_ROW_LIMIT": "8",
        "SEARCH_BREADTH": "64",
        "DEAD_SHARE_LIMIT": "0.5",
        "TITLE_BOOST": "3",
        "WRITE_QUEUE_LIMIT": "9",
        "LOG_LIMIT_BYTES": "40000000",
        "VACUUM_LIMIT_BYTES": "1000",
        "PURGE_WITHIN_S": "60",
        "MAX_PASSAGES_PER_DOCUMENT": "10",
    }
    settings = read_settings(
        RetrieverSettings, {f"JUSTESSE_RETRIEVER_{name}": value for name, value in given.items()}
    )
    embedded = settings.embedded()

    assert embedded.dense.flat_row_limit == 7
    assert embedded.dense.growing_row_limit == 8
    assert embedded.dense.search_breadth == 64
    assert embedded.dense.dead_share_limit == embedded.lexical.dead_share_limit == 0.5
    assert embedded.lexical.title_boost == 3
    assert embedded.write_queue_limit == 9
    assert embedded.log_limit_bytes == 40_000_000
    assert embedded.vacuum_limit_bytes == 1_000
    assert embedded.purge_within_s == 60
    assert settings.upload_limits().max_passages == 10


def test_mistakes_are_told_together() -> None:
    """Each wrong variable has its line."""
    wrong = {"JUSTESSE_RETRIEVER_NEIGHBOUR_COUNT": "1", "JUSTESSE_RETRIEVER_DATA_FOLDR": "/x"}
    with pytest.raises(SettingsError) as caught:
        read_settings(RetrieverSettings, wrong)

    assert len(caught.value.lines) == 2
