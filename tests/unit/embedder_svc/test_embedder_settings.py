"""Mistakes in the settings are told before anything starts."""

from typing import get_args

import pytest

from chassis.settings import SettingsError, read_settings
from embedder_svc.providers.catalogue import BUILDERS, configured_providers
from embedder_svc.settings import EmbedderSettings, ProviderName

PREFIX = "JUSTESSE_EMBEDDER_"


def test_defaults_need_no_environment() -> None:
    """Without any variable the embedded model is served on its known ports."""
    settings = read_settings(EmbedderSettings, {})

    assert settings.providers == ("embedded",)
    assert (settings.port, settings.management_port, settings.metrics_port) == (50051, 51051, 52051)


async def test_the_chain_is_a_list_in_order() -> None:
    """Providers are built in the order of the setting, with their own settings."""
    settings = read_settings(
        EmbedderSettings,
        {
            f"{PREFIX}PROVIDERS": "deterministic, embedded",
            f"{PREFIX}DETERMINISTIC_DIMENSION": "32",
        },
    )

    providers = configured_providers(settings)

    assert [provider.name for provider in providers] == ["deterministic", "embedded"]
    assert [provider.space.dimension for provider in providers] == [32, 384]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PROVIDERS", "embedded,mistrall", "'deterministic'"),
        ("PROVIDERS", "embedded,embedded", "once"),
        ("PROVIDERS", "", "at least 1"),
        ("DETERMINISTIC_DIMENSION", "4", "8"),
        ("CHECK_INTERVAL_S", "0", "greater than 0"),
        ("BREAKER_OPEN_S", "301", "300"),
        ("PROVIDER", "embedded", "did you mean"),
    ],
)
def test_mistakes_name_variable_and_remedy(name: str, value: str, told: str) -> None:
    """The line names the variable and what it should hold."""
    with pytest.raises(SettingsError) as caught:
        read_settings(EmbedderSettings, {PREFIX + name: value})

    [line] = caught.value.lines
    assert PREFIX + name in line
    assert told in line


def test_every_known_name_can_be_built() -> None:
    """The names that the settings accept are those of the catalogue."""
    assert set(BUILDERS) == set(get_args(ProviderName))
