"""Which models are asked is said in one variable; mistakes are told before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_settings import SettingsConfigDict

from chassis.metrics import Metrics
from chassis.settings import ServiceSettings, SettingsError, read_settings
from chat_models.catalogue import configured_chain
from chat_models.settings import ChatSettings

PREFIX = "JUSTESSE_SPEAKER_"
KEYS = {"MISTRAL_API_KEY": "sk-mistral", "OPENAI_API_KEY": "sk-openai", "OLLAMA_HOST": "gpu"}


class SpeakerSettings(ServiceSettings, ChatSettings):
    """Settings of some service with chat models."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, populate_by_name=True)


def settings_of(**variables: str) -> SpeakerSettings:
    """Reads settings; names that are not of the vendors get the prefix."""
    vendors = ("MISTRAL_API", "OPENAI_API", "OPENAI_BASE_URL", "OLLAMA_")
    environ = {
        name if name.startswith(vendors) else PREFIX + name: value
        for name, value in variables.items()
    }
    return read_settings(SpeakerSettings, environ)


def test_no_model_is_asked_unless_it_is_named() -> None:
    """A key that is there for embeddings is no order to chat."""
    assert configured_chain(settings_of(**KEYS), Metrics()) is None


async def test_the_chain_is_a_list_in_order() -> None:
    """Names of models may hold slashes and colons."""
    named = "mistral/mistral-small, openai/meta-llama/Llama-3,ollama/qwen3:4b"
    chain = configured_chain(settings_of(CHAT_MODELS=named, **KEYS), Metrics())

    assert chain is not None
    assert [(model.name, model.card.name) for model in chain.models] == [
        ("mistral", "mistral-small"),
        ("openai", "meta-llama/Llama-3"),
        ("ollama", "qwen3:4b"),
    ]
    assert chain.identity == "mistral/mistral-small,openai/meta-llama/Llama-3,ollama/qwen3:4b"
    assert chain.context_tokens == 8192
    await chain.close()


def address(provider: str, **variables: str) -> tuple[str, str]:
    """Returns where a provider is asked, and with which key."""
    connection = settings_of(**variables).chat_connection(provider)
    assert connection is not None
    return connection.base_url, connection.key.get_secret_value() if connection.key else ""


def test_addresses_follow_from_the_usual_variables() -> None:
    """OpenAI's may be replaced for everybody, or for chat alone; then without OpenAI's key."""
    assert address("mistral", **KEYS) == ("https://api.mistral.ai/v1", "sk-mistral")
    assert address("openai", **KEYS) == ("https://api.openai.com/v1", "sk-openai")
    assert address("openai", OPENAI_BASE_URL="http://vllm:8000/v1/") == ("http://vllm:8000/v1", "")
    assert address("ollama", **KEYS) == ("http://gpu:11434", "")

    own = {**KEYS, "CHAT_BASE_URL": "http://llama:8080/v1"}
    assert address("openai", **own) == ("http://llama:8080/v1", "")
    assert address("openai", **own, CHAT_API_KEY="sk-own") == ("http://llama:8080/v1", "sk-own")


def test_keys_may_stand_in_files(tmp_path: Path) -> None:
    """And nothing shows them."""
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")
    settings = settings_of(MISTRAL_API_KEY_FILE=str(file), CHAT_MODELS="mistral/small")

    connection = settings.chat_connection("mistral")
    assert connection is not None
    assert connection.key is not None
    assert connection.key.get_secret_value() == "sk-from-file"
    assert "sk-from-file" not in f"{settings!r} {connection!r} {connection.http('mistral')!r}"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"CHAT_MODELS": "mistral"}, "'mistral' is no provider/model"),
        ({"CHAT_MODELS": "claude/opus"}, "the providers are mistral, openai, ollama"),
        ({"CHAT_MODELS": "mistral/"}, "is no provider/model"),
        ({"CHAT_MODELS": "ollama/a,ollama/a"}, "once"),
        ({"CHAT_MODELS": "mistral/small"}, "MISTRAL_API_KEY is not set"),
        ({"CHAT_MODELS": "openai/gpt"}, "none of OPENAI_API_KEY"),
        ({"CHAT_MODELS": "ollama/a"}, "OLLAMA_HOST is not set"),
        ({"CHAT_BASE_URL": "vllm:8000"}, "http or https"),
        ({"CHAT_MODEL_FILE": "/nonexistent/models.toml"}, "cannot be read"),
        (
            {"CHAT_MODELS": "openai/own", "OPENAI_API_KEY": "secret-1", "DAILY_COST_CAP": "1"},
            "price of openai/own",
        ),
        (
            {
                "CHAT_MODELS": "mistral/a",
                "MISTRAL_API_KEY": "secret-1",
                "MISTRAL_API_KEY_FILE": "x",
            },
            "both set",
        ),
        (
            {"CHAT_MODELS": "mistral/a", "MISTRAL_API_KEY_FILE": "/nonexistent/key"},
            "MISTRAL_API_KEY_FILE=/nonexistent/key",
        ),
    ],
)
def test_mistakes_are_told_at_the_start(variables: dict[str, str], told: str) -> None:
    """In words that name the variable, never the key."""
    with pytest.raises(SettingsError, match=told) as caught:
        settings_of(**variables)
    assert "secret-1" not in str(caught.value)


def test_limits_of_an_account_are_shared_by_the_replicas() -> None:
    """Each takes its part."""
    settings = settings_of(MISTRAL_REQUESTS_PER_MINUTE="60", REPLICAS="3", **KEYS)
    connection = settings.chat_connection("mistral")

    assert connection is not None
    assert (connection.requests_per_minute, connection.replicas) == (60, 3)
