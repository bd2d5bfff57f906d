"""Settings from the environment, and what is said about mistakes."""

from __future__ import annotations

import os

import pytest
from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings, SettingsError, load_settings, read_settings


class ProbeSettings(ServiceSettings, ServerSettings):
    """Settings of an invented service."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_PROBE_")

    port: int = 50099
    providers: tuple[str, ...] = Field(default=("embedded",), description="a comma list of names")
    database_url: str = "sqlite+aiosqlite:///x.db"
    api_key: SecretStr | None = Field(default=None, min_length=8, description="8 characters")
    ratio: float = Field(default=0.5, ge=0, le=1, description="a number from 0 to 1")
    limits: dict[str, int] = Field(default_factory=dict, description="JSON object of numbers")

    @model_validator(mode="after")
    def _consistent(self) -> ProbeSettings:
        if self.insecure and self.ratio == 1.0:
            raise ValueError("INSECURE and RATIO=1 exclude each other")
        return self


class RequiredSettings(ServiceSettings):
    """Settings without a default."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_NEEDY_")

    target: str = Field(description="host:port of the other service")


def mistakes(**environ: str) -> list[str]:
    """Returns the lines for this environment (names without their prefix)."""
    prefixed = {f"JUSTESSE_PROBE_{name}": value for name, value in environ.items()}
    with pytest.raises(SettingsError) as caught:
        read_settings(ProbeSettings, prefixed)
    return caught.value.lines


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing needs to be set, and other programs' variables do not disturb."""
    settings = read_settings(ProbeSettings, {"PATH": "/bin", "JUSTESSE_OTHER_PORT": "x"})
    assert settings == ProbeSettings()
    assert (settings.port, settings.management_port, settings.metrics_port) == (50099, 51099, 52099)
    assert (settings.host, settings.log_format) == ("127.0.0.1", "json")


def test_values_are_read_by_prefix_and_name() -> None:
    """Numbers, booleans, lists, objects and secrets, in any case of letters."""
    settings = read_settings(
        ProbeSettings,
        {
            "JUSTESSE_PROBE_PORT": "7",
            "justesse_probe_insecure": "true",
            "JUSTESSE_PROBE_PROVIDERS": "mistral, voyage ,",
            "JUSTESSE_PROBE_LIMITS": '{"a": 1}',
            "JUSTESSE_PROBE_API_KEY": "sk-123456789",
        },
    )
    assert (settings.port, settings.management_port, settings.insecure) == (7, 1007, True)
    assert settings.providers == ("mistral", "voyage")
    assert settings.limits == {"a": 1}
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "sk-123456789"
    assert "sk-123" not in repr(settings)
    json_list = read_settings(ProbeSettings, {"JUSTESSE_PROBE_PROVIDERS": '["x,y"]'})
    assert json_list.providers == ("x,y",)


def test_all_mistakes_are_reported_together() -> None:
    """Each on its own line: variable, value, what is expected."""
    lines = mistakes(PORT="abc", RATIO="2", LOG_FORMAT="xml", LIMITS="[1", METRICS_PORT="70000")
    assert len(lines) == 5
    text = "\n".join(lines)
    assert "JUSTESSE_PROBE_PORT='abc'" in text
    assert "expected: business port, 0 to 65535" in text
    assert "JUSTESSE_PROBE_RATIO='2'" in text
    assert "expected: a number from 0 to 1" in text
    assert "JUSTESSE_PROBE_LOG_FORMAT='xml'" in text
    assert "JUSTESSE_PROBE_LIMITS='[1'" in text
    assert "JUSTESSE_PROBE_METRICS_PORT='70000'" in text


def test_a_typing_error_in_a_name_is_a_mistake_with_a_hint() -> None:
    """A variable with our prefix that nobody reads would otherwise do nothing, silently."""
    (line,) = mistakes(PROT="1")
    assert line == "JUSTESSE_PROBE_PROT: no such setting; did you mean JUSTESSE_PROBE_PORT?"
    (line,) = mistakes(XYZZY="1")
    assert "known: " in line
    assert "JUSTESSE_PROBE_HOST" in line


def test_a_typing_error_is_reported_beside_wrong_values() -> None:
    """Unknown names do not hide wrong values, nor the other way round."""
    assert len(mistakes(PROT="1", RATIO="2")) == 2


def test_secrets_are_masked() -> None:
    """A mistake in a key shows that it is wrong, not what it is; a URL loses its password."""
    (line,) = mistakes(API_KEY="short")
    assert "short'" not in line
    assert line.startswith("JUSTESSE_PROBE_API_KEY=***")


@pytest.mark.parametrize("name", ["api_key", "api_keys", "db_password", "auth_token", "blob"])
def test_every_kind_of_secret_is_masked(name: str) -> None:
    """By its name or by its type; numbers of tokens are none."""

    class Secrets(ServiceSettings):
        model_config = SettingsConfigDict(env_prefix="S_")
        api_key: int = 0
        api_keys: int = 0
        db_password: int = 0
        auth_token: int = 0
        blob: SecretStr | None = Field(default=None, max_length=3)
        tokens_per_minute: int = 0

    with pytest.raises(SettingsError) as caught:
        read_settings(Secrets, {f"S_{name.upper()}": "hunter2", "S_TOKENS_PER_MINUTE": "many"})
    text = "\n".join(caught.value.lines)
    assert "hunter2" not in text
    assert f"S_{name.upper()}=***" in text
    assert "S_TOKENS_PER_MINUTE='many'" in text


def test_a_field_can_be_read_from_another_services_variable() -> None:
    """Two processes may share one database setting; mistakes name the variable that was set."""

    class Sharing(ServiceSettings):
        model_config = SettingsConfigDict(env_prefix="JUSTESSE_SHARING_")
        database_url: str = Field(
            default="sqlite", validation_alias="JUSTESSE_GATEWAY_DATABASE_URL", min_length=5
        )

    given = {"JUSTESSE_GATEWAY_DATABASE_URL": "sqlite:///y"}
    assert read_settings(Sharing, given).database_url == "sqlite:///y"
    assert read_settings(Sharing, {}).database_url == "sqlite"
    with pytest.raises(SettingsError) as caught:
        read_settings(Sharing, {"JUSTESSE_GATEWAY_DATABASE_URL": "x"})
    (line,) = caught.value.lines
    assert line.startswith("JUSTESSE_GATEWAY_DATABASE_URL='x'")


def test_passwords_in_urls_are_masked() -> None:
    """The rest of the URL is needed to find the mistake."""

    class Numbers(ServiceSettings):
        model_config = SettingsConfigDict(env_prefix="N_")
        database: int = 0

    with pytest.raises(SettingsError) as caught:
        read_settings(Numbers, {"N_DATABASE": "postgresql://me:hunter2@db.example/x"})
    (line,) = caught.value.lines
    assert "hunter2" not in line
    assert "'postgresql://***@db.example/x'" in line


def test_a_rule_over_several_settings_has_its_line() -> None:
    """It belongs to no single variable."""
    (line,) = mistakes(INSECURE="true", RATIO="1")
    assert line == "settings: INSECURE and RATIO=1 exclude each other"


def test_a_missing_setting_is_named() -> None:
    """With what it should be."""
    with pytest.raises(SettingsError) as caught:
        read_settings(RequiredSettings, {})
    assert caught.value.lines == [
        "JUSTESSE_NEEDY_TARGET is not set; expected: host:port of the other service"
    ]


def test_the_process_ends_with_78_and_the_lines_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """EX_CONFIG tells a supervisor that a restart will not help."""
    with pytest.raises(SystemExit) as caught:
        load_settings(ProbeSettings, {"JUSTESSE_PROBE_PORT": "abc", "JUSTESSE_PROBE_PROT": "1"})
    assert caught.value.code == 78
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "settings: 2 to correct"
    assert len(lines) == 3


def test_building_settings_directly_does_not_read_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests and compositions get exactly what they say; load_settings reads os.environ."""
    monkeypatch.setenv("JUSTESSE_PROBE_PORT", "7")
    assert ProbeSettings().port == 50099
    assert load_settings(ProbeSettings).port == 7
    assert "JUSTESSE_PROBE_PORT" in os.environ


def test_settings_do_not_change_once_they_are_read() -> None:
    """What the log said at start stays true."""
    with pytest.raises(ValueError, match="frozen"):
        ProbeSettings().port = 1
