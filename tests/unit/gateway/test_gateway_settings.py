"""What the environment tells the gateway."""

from __future__ import annotations

import pytest

from chassis.settings import SettingsError, read_settings
from gateway.settings import GatewaySettings


def test_defaults_fit_a_mesh_on_one_machine() -> None:
    """Ports and addresses are those the other services take by default."""
    settings = read_settings(GatewaySettings, {})

    assert (settings.port, settings.http_port) == (50050, 8080)
    assert (settings.management_port, settings.metrics_port) == (51050, 52050)
    assert settings.retriever_target == "127.0.0.1:50052"
    assert settings.ingestion_management_target == "127.0.0.1:51055"
    assert settings.database_url.startswith("sqlite+aiosqlite:///")


@pytest.mark.parametrize(
    ("target", "management"),
    [
        ("10.0.0.1:7000", "10.0.0.1:8000"),
        ("dns:///retriever:50052", "dns:///retriever:51052"),
        ("[::1]:50052", "[::1]:51052"),
    ],
)
def test_the_health_port_follows_the_business_port(target: str, management: str) -> None:
    """Where it is not given, it is the port + 1000."""
    settings = read_settings(GatewaySettings, {"JUSTESSE_GATEWAY_RETRIEVER_TARGET": target})

    assert settings.retriever_management_target == management


def test_a_given_health_port_counts() -> None:
    """Meshes on free ports give both."""
    settings = read_settings(
        GatewaySettings, {"JUSTESSE_GATEWAY_RETRIEVER_MANAGEMENT_TARGET": "127.0.0.1:1"}
    )

    assert settings.retriever_management_target == "127.0.0.1:1"


def test_all_mistakes_are_told_at_once() -> None:
    """Each with variable, value and what is expected."""
    with pytest.raises(SettingsError) as mistaken:
        read_settings(
            GatewaySettings,
            {
                "JUSTESSE_GATEWAY_RETRIEVER_TARGET": "retriever",
                "JUSTESSE_GATEWAY_HTTP_PORT": "eighty",
                "JUSTESSE_GATEWAY_DATABASE_URL": "somewhere",
                "JUSTESSE_GATEWAY_RETRIVER_TARGET": "127.0.0.1:1",
            },
        )

    text = str(mistaken.value)
    assert len(mistaken.value.lines) == 4
    assert "'retriever': the port is missing" in text
    assert "'eighty'" in text
    assert "no database URL" in text
    assert "did you mean JUSTESSE_GATEWAY_RETRIEVER_TARGET" in text


def test_a_postgresql_url_is_no_mistake() -> None:
    """Another database is a matter of its URL."""
    url = "postgresql+psycopg://user@host/name"

    settings = read_settings(GatewaySettings, {"JUSTESSE_GATEWAY_DATABASE_URL": url})

    assert settings.database_url == url


def test_a_password_in_the_url_is_not_shown() -> None:
    """A mistake in a URL names it without the user's part."""
    url = "nothing+none://user:hidden@host/name"

    with pytest.raises(SettingsError) as mistaken:
        read_settings(GatewaySettings, {"JUSTESSE_GATEWAY_DATABASE_URL": url})

    assert "hidden" not in str(mistaken.value)
