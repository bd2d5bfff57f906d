"""Mistakes in the settings are told before anything starts, and no key leaks."""

from pathlib import Path
from typing import get_args

import pytest

from chassis.settings import SettingsError, read_settings
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.providers.catalogue import HOSTED, IN_PROCESS, configured_providers
from embedder_svc.providers.protocol import UnconfiguredProvider
from embedder_svc.settings import EmbedderSettings, ProviderName

PREFIX = "JUSTESSE_EMBEDDER_"
KEYS = {"MISTRAL_API_KEY": "sk-mistral", "VOYAGE_API_KEY": "pa-voyage", "OLLAMA_HOST": "gpu:11434"}


def test_defaults_need_no_environment() -> None:
    """Without any variable the embedder is served on its known ports."""
    settings = read_settings(EmbedderSettings, {})

    assert settings.providers == ("mistral", "voyage", "ollama", "embedded")
    assert (settings.port, settings.management_port, settings.metrics_port) == (50051, 51051, 52051)


async def test_without_keys_only_the_embedded_model_is_configured() -> None:
    """The others say what they lack, with the space they would serve."""
    providers = configured_providers(read_settings(EmbedderSettings, {"MISTRAL_API_KEY": " "}))

    *lacking, embedded = providers
    assert embedded.name == "embedded"
    assert [p.missing for p in lacking if isinstance(p, UnconfiguredProvider)] == [
        "MISTRAL_API_KEY is not set",
        "VOYAGE_API_KEY is not set",
        "OLLAMA_HOST is not set",
    ]
    assert [provider.space.id for provider in lacking] == [
        "mistral/mistral-embed@1/1024/l2/none",
        "voyage/voyage-3-lite@1/512/l2/input-type",
        "ollama/nomic-embed-text@v1.5/768/l2/nomic",
    ]


async def test_usual_variables_configure_the_chain() -> None:
    """Keys and addresses have the names that other programs use."""
    providers = configured_providers(read_settings(EmbedderSettings, KEYS))

    assert [isinstance(provider, HostedProvider) for provider in providers] == [True] * 3 + [False]
    for provider in providers:
        if isinstance(provider, HostedProvider):
            await provider.close()


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


def test_keys_may_stand_in_files(tmp_path: Path) -> None:
    """White space around the key in the file is no part of it, and nothing shows the key."""
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")

    settings = read_settings(EmbedderSettings, {"MISTRAL_API_KEY_FILE": str(file)})

    key = settings.key("mistral")
    assert key is not None
    assert key.get_secret_value() == "sk-from-file"
    assert "sk-from-file" not in f"{settings!r} {settings.connection('mistral')!r}"


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"VOYAGE_API_KEY_FILE": "/nonexistent/key"}, "VOYAGE_API_KEY_FILE=/nonexistent/key"),
        (
            {"VOYAGE_API_KEY": "secret-key", "VOYAGE_API_KEY_FILE": "/nonexistent/key"},
            "both set",
        ),
    ],
    ids=["unreadable", "both"],
)
def test_a_key_that_cannot_be_had_is_a_mistake(environ: dict[str, str], told: str) -> None:
    """The line names the variable, not the key."""
    with pytest.raises(SettingsError, match=told) as caught:
        read_settings(EmbedderSettings, environ)

    assert "secret-key" not in str(caught.value)


def test_addresses_follow_from_keys_and_hosts() -> None:
    """OLLAMA_HOST may lack scheme and port; Voyage has two addresses; OpenAI's may be replaced."""

    def address(provider: str, **environ: str) -> str:
        connection = read_settings(EmbedderSettings, environ).connection(provider)
        assert connection is not None
        return connection.base_url

    assert address("ollama", OLLAMA_HOST="gpu") == "http://gpu:11434"
    assert address("ollama", OLLAMA_HOST="0.0.0.0:1234") == "http://127.0.0.1:1234"
    assert address("ollama", OLLAMA_HOST="https://ollama.com/") == "https://ollama.com"
    assert address("voyage", VOYAGE_API_KEY="pa-1") == "https://api.voyageai.com/v1"
    assert address("voyage", VOYAGE_API_KEY="al-1") == "https://ai.mongodb.com/v1"
    assert address("openai", OPENAI_API_KEY="sk-1") == "https://api.openai.com/v1"
    assert address("openai", OPENAI_BASE_URL="http://tei:80/v1/") == "http://tei:80/v1"


def test_other_prefixes_are_another_space() -> None:
    """A model that sees other words makes vectors that cannot be compared."""
    known = {f"{PREFIX}PROVIDERS": "openai", f"{PREFIX}OPENAI_DIMENSION": "512"}
    prefixed = known | {f"{PREFIX}OPENAI_QUERY_PREFIX": "query: "}

    [plain], [own] = (
        configured_providers(read_settings(EmbedderSettings, environ))
        for environ in (known, prefixed)
    )

    assert plain.space.id == "openai/text-embedding-3-small@1/512/l2/none"
    assert own.space.id.startswith("openai/text-embedding-3-small@1/512/l2/own-")


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
        ("MISTRAL_API_KEY", "sk-1", "did you mean MISTRAL_API_KEY?"),
        ("REPLICAS", "0", "greater than or equal to 1"),
        ("VOYAGE_BASE_URL", "ftp://voyage", "http"),
    ],
)
def test_mistakes_name_variable_and_remedy(name: str, value: str, told: str) -> None:
    """The line names the variable and what it should hold."""
    with pytest.raises(SettingsError) as caught:
        read_settings(EmbedderSettings, {PREFIX + name: value})

    [line] = caught.value.lines
    assert PREFIX + name in line
    assert told in line


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"VOYAGE_MODEL": "voyage-9"}, "voyage_model must be one of voyage-3-lite"),
        ({"MISTRAL_MODEL": "large"}, "mistral_model must be one of mistral-embed"),
        ({"OLLAMA_MODEL": "bge-m3"}, "ollama_dimension must tell the width"),
        ({"PROVIDERS": "folder"}, "folder_path must name"),
    ],
    ids=["voyage", "mistral", "ollama", "folder"],
)
def test_unknown_models_are_told_at_start(environ: dict[str, str], told: str) -> None:
    """A width that is guessed wrong would only show in the first answer."""
    with pytest.raises(SettingsError, match=told):
        read_settings(EmbedderSettings, {PREFIX + name: v for name, v in environ.items()})


def test_every_provider_can_be_built() -> None:
    """The catalogue and the settings name the same providers."""
    assert {*HOSTED, *IN_PROCESS, "openai"} == set(get_args(ProviderName))
