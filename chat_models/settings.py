"""What a service can be told of its chat models: which, in what order, keys, addresses, limits.

Keys and addresses have the names that other programs use too. Naming no model calls none, even
where a key is there for something else.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from chassis.host_address import base_url_of
from chassis.vendor_connection import Connection
from chassis.vendor_key import vendor_key
from chat_models import mistral, ollama, openai_compatible
from chat_models.model_cards import ModelCards, model_cards

_PER_MINUTE = "limit of the account per minute, shared by all replicas; unlimited if not set"
PROVIDERS = (mistral.NAME, openai_compatible.NAME, ollama.NAME)


class ChatSettings(BaseModel):
    """The part of a service's settings that concerns chat models."""

    chat_models: tuple[str, ...] = Field(
        default=(),
        description="models in the order to ask, each as provider/model, separated by commas; "
        f"providers: {', '.join(PROVIDERS)}",
    )
    chat_model_file: Path | None = Field(
        default=None, description="a TOML file with prices and contexts of models"
    )
    chat_breaker_threshold: int = Field(
        default=5, ge=1, description="failures in a row after which a model is passed over"
    )
    chat_breaker_open_s: float = Field(
        default=30.0, gt=0, le=300.0, description="seconds before it is tried again, up to 300"
    )
    chat_check_interval_s: float = Field(
        default=60.0, gt=0, description="seconds between two connectivity checks"
    )
    daily_cost_cap: float | None = Field(
        default=None,
        ge=0,
        description="what a workspace may cost a day (UTC) before only free models work for it, "
        "in the currency of the prices; unlimited if not set",
    )
    private_providers: tuple[str, ...] = Field(
        default=(),
        description="hosts of providers that may have private or link-local addresses, separated "
        "by commas",
    )
    replicas: int = Field(
        default=1, ge=1, description="processes that share each account's limits and cost caps"
    )

    mistral_api_key: SecretStr | None = Field(default=None, validation_alias="MISTRAL_API_KEY")
    mistral_api_key_file: Path | None = Field(
        default=None, validation_alias="MISTRAL_API_KEY_FILE", description="a readable file"
    )
    mistral_base_url: str = Field(default=mistral.BASE_URL, pattern=r"^https?://")
    mistral_requests_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    mistral_tokens_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_api_key_file: Path | None = Field(
        default=None, validation_alias="OPENAI_API_KEY_FILE", description="a readable file"
    )
    openai_base_url: str = Field(default="", validation_alias="OPENAI_BASE_URL")
    openai_requests_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    openai_tokens_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    chat_base_url: str = Field(
        default="",
        description="an http or https URL that openai models are asked at instead of "
        "OPENAI_BASE_URL; OPENAI_API_KEY is not sent there",
    )
    chat_api_key: SecretStr | None = Field(default=None, description="the key of chat_base_url")
    chat_api_key_file: Path | None = Field(default=None, description="a readable file")

    ollama_host: str = Field(default="", validation_alias="OLLAMA_HOST")
    ollama_api_key: SecretStr | None = Field(default=None, validation_alias="OLLAMA_API_KEY")
    ollama_api_key_file: Path | None = Field(
        default=None, validation_alias="OLLAMA_API_KEY_FILE", description="a readable file"
    )

    @field_validator("chat_models")
    @classmethod
    def _are_models(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            provider, _, model = name.partition("/")
            if provider not in PROVIDERS or not model.strip():
                raise ValueError(
                    f"{name!r} is no provider/model; the providers are {', '.join(PROVIDERS)}"
                )
        if len(set(names)) < len(names):
            raise ValueError("each model may stand in the chain once")
        return names

    @field_validator("openai_base_url", "chat_base_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must be an http or https URL")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _models_can_be_asked(self) -> ChatSettings:
        cards = self.cards()
        for provider, model in self.chat_model_names:
            if self.chat_connection(provider) is None:
                raise ValueError(f"chat_models names {provider}/{model}, but {_MISSING[provider]}")
            if self.daily_cost_cap is not None and cards.card(provider, model).price is None:
                raise ValueError(
                    f"daily_cost_cap needs the price of {provider}/{model}: write it into a file "
                    "and name that in chat_model_file"
                )
        return self

    @property
    def chat_model_names(self) -> tuple[tuple[str, str], ...]:
        """The models as pairs of provider and name."""
        pairs = (name.partition("/") for name in self.chat_models)
        return tuple((provider, model.strip()) for provider, _, model in pairs)

    def cards(self) -> ModelCards:
        """Returns the table of models, the operator's own first."""
        return model_cards(self.chat_model_file)

    def chat_connection(self, provider: str) -> Connection | None:
        """Returns how a provider is reached, or None where key or address is missing."""
        if provider == ollama.NAME:
            key = vendor_key(self.ollama_api_key, self.ollama_api_key_file, "OLLAMA_API_KEY")
            if not self.ollama_host.strip():
                return None
            return Connection(
                base_url_of(self.ollama_host, ollama.DEFAULT_PORT),
                key,
                private_hosts=self.private_providers,
            )
        if provider == mistral.NAME:
            key = vendor_key(self.mistral_api_key, self.mistral_api_key_file, "MISTRAL_API_KEY")
            return None if key is None else self._limited(provider, self.mistral_base_url, key)
        return self._openai_connection()

    def _openai_connection(self) -> Connection | None:
        provider = openai_compatible.NAME
        if self.chat_base_url:
            key = vendor_key(self.chat_api_key, self.chat_api_key_file, "chat_api_key")
            return self._limited(provider, self.chat_base_url, key)
        key = vendor_key(self.openai_api_key, self.openai_api_key_file, "OPENAI_API_KEY")
        if key is None and not self.openai_base_url:
            return None
        return self._limited(provider, self.openai_base_url or openai_compatible.BASE_URL, key)

    def _limited(self, provider: str, base_url: str, key: SecretStr | None) -> Connection:
        return Connection(
            base_url.rstrip("/"),
            key,
            getattr(self, f"{provider}_requests_per_minute"),
            getattr(self, f"{provider}_tokens_per_minute"),
            replicas=self.replicas,
            private_hosts=self.private_providers,
        )


_MISSING = {
    mistral.NAME: "MISTRAL_API_KEY is not set",
    openai_compatible.NAME: "none of OPENAI_API_KEY, OPENAI_BASE_URL and chat_base_url is set",
    ollama.NAME: "OLLAMA_HOST is not set",
}
