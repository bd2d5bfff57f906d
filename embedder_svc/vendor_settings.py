"""What the embedder can be told of the vendors: keys, addresses, models, limits of the accounts.

Keys and addresses have the names that other programs use too. A key may stand in a file, named by
the same variable with `_FILE`; the file is read at start.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from chassis.host_address import base_url_of
from chassis.vendor_connection import Connection
from chassis.vendor_key import vendor_key
from embedder_svc.providers import mistral, ollama, openai_compatible, voyage

_PER_MINUTE = "limit of the account per minute, shared by all replicas; unlimited if not set"
_KEY_VARIABLES: Mapping[str, str] = {
    mistral.NAME: "MISTRAL_API_KEY",
    voyage.NAME: "VOYAGE_API_KEY",
    openai_compatible.NAME: "OPENAI_API_KEY",
    ollama.NAME: "OLLAMA_API_KEY",
}


class VendorSettings(BaseModel):
    """The part of the settings that concerns hosted models."""

    mistral_api_key: SecretStr | None = Field(default=None, validation_alias="MISTRAL_API_KEY")
    mistral_api_key_file: Path | None = Field(
        default=None, validation_alias="MISTRAL_API_KEY_FILE", description="a readable file"
    )
    mistral_base_url: str = Field(default=mistral.BASE_URL, pattern=r"^https?://")
    mistral_model: str = Field(default=mistral.DEFAULT_MODEL, description="a model of Mistral")
    mistral_requests_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    mistral_tokens_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)

    voyage_api_key: SecretStr | None = Field(default=None, validation_alias="VOYAGE_API_KEY")
    voyage_api_key_file: Path | None = Field(
        default=None, validation_alias="VOYAGE_API_KEY_FILE", description="a readable file"
    )
    voyage_base_url: str = Field(
        default="", description="an http or https URL; empty: the address the key belongs to"
    )
    voyage_model: str = Field(default=voyage.DEFAULT_MODEL, description="a model of Voyage")
    voyage_requests_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    voyage_tokens_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)

    ollama_host: str = Field(default="", validation_alias="OLLAMA_HOST")
    ollama_api_key: SecretStr | None = Field(default=None, validation_alias="OLLAMA_API_KEY")
    ollama_api_key_file: Path | None = Field(
        default=None, validation_alias="OLLAMA_API_KEY_FILE", description="a readable file"
    )
    ollama_model: str = Field(default=ollama.DEFAULT_MODEL, description="a model that was pulled")
    ollama_dimension: int | None = Field(
        default=None, ge=1, le=16384, description="width of a model that is not known here"
    )

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_api_key_file: Path | None = Field(
        default=None, validation_alias="OPENAI_API_KEY_FILE", description="a readable file"
    )
    openai_base_url: str = Field(default="", validation_alias="OPENAI_BASE_URL")
    openai_model: str = Field(default=openai_compatible.DEFAULT_MODEL)
    openai_dimension: int | None = Field(
        default=None, ge=1, le=16384, description="width of the vectors, if not the model's own"
    )
    openai_encoding: Literal["float", "base64"] | None = Field(
        default=None, description="encoding to ask for; not set: the server's own"
    )
    openai_query_prefix: str = Field(default="", description="words put before a query")
    openai_document_prefix: str = Field(default="", description="words put before a passage")
    openai_requests_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)
    openai_tokens_per_minute: float | None = Field(default=None, gt=0, description=_PER_MINUTE)

    private_providers: tuple[str, ...] = Field(
        default=(),
        description="hosts of providers that may have private or link-local addresses, separated "
        "by commas",
    )
    replicas: int = Field(
        default=1, ge=1, description="embedders that share each account's limits and cost caps"
    )

    @field_validator("voyage_base_url", "openai_base_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must be an http or https URL")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _keys_are_readable(self) -> "VendorSettings":
        for name in _KEY_VARIABLES:
            self.key(name)
        return self

    def key(self, provider: str) -> SecretStr | None:
        """Returns a provider's key, from its variable or its file; None if there is none."""
        value: SecretStr | None = getattr(self, f"{provider}_api_key")
        file: Path | None = getattr(self, f"{provider}_api_key_file")
        return vendor_key(value, file, _KEY_VARIABLES[provider])

    def connection(self, provider: str) -> Connection | None:
        """Returns how a vendor is reached, or None if it is not configured."""
        key = self.key(provider)
        if provider == ollama.NAME:
            if not self.ollama_host.strip():
                return None
            return Connection(
                base_url_of(self.ollama_host, ollama.DEFAULT_PORT),
                key,
                private_hosts=self.private_providers,
            )
        own_server = provider == openai_compatible.NAME and bool(self.openai_base_url)
        if key is None and not own_server:
            return None
        limits = (
            getattr(self, f"{provider}_requests_per_minute"),
            getattr(self, f"{provider}_tokens_per_minute"),
        )
        return Connection(
            self._base_url(provider, key),
            key,
            *limits,
            replicas=self.replicas,
            private_hosts=self.private_providers,
        )

    def _base_url(self, provider: str, key: SecretStr | None) -> str:
        given: str = getattr(self, f"{provider}_base_url")
        if given:
            return given
        if provider == voyage.NAME and key is not None:
            return voyage.base_url_for(key)
        return openai_compatible.BASE_URL
