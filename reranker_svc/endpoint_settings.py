"""What the reranker can be told of a cross-encoder behind HTTP.

Keys of hosted ones have the names that other programs use too. A key may stand in a file, named by
the same variable with `_FILE`; the file is read at start.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

from chassis.vendor_key import vendor_key
from reranker_svc.endpoints.dialects import COHERE, DIALECTS, JINA, MIXEDBREAD, VOYAGE, Dialect

EndpointKind = Literal[
    "tei", "cohere", "jina", "voyage", "mixedbread", "infinity", "vllm", "llamacpp"
]
_OWN_KEY = ("endpoint_api_key", "JUSTESSE_RERANKER_ENDPOINT_API_KEY")
_HOSTED_KEYS: Mapping[str, tuple[str, str]] = {
    COHERE.name: ("cohere_api_key", "COHERE_API_KEY"),
    JINA.name: ("jina_api_key", "JINA_API_KEY"),
    VOYAGE.name: ("voyage_api_key", "VOYAGE_API_KEY"),
    MIXEDBREAD.name: ("mixedbread_api_key", "MXBAI_API_KEY"),
}


class EndpointSettings(BaseModel):
    """The part of the settings that concerns the endpoint."""

    endpoint_kind: EndpointKind | None = Field(
        default=None,
        description="tei, cohere, jina, voyage, mixedbread, infinity, vllm or llamacpp",
    )
    endpoint_url: str = Field(
        default="",
        description="an http or https URL, with or without the path; empty: the vendor's own",
    )
    endpoint_model: str = Field(default="", description="empty: the kind's own")
    endpoint_api_key: SecretStr | None = Field(
        default=None, description="key of a server of your own"
    )
    endpoint_api_key_file: Path | None = Field(default=None, description="a readable file")
    endpoint_document_characters: int = Field(
        default=8000, ge=200, description="a longer passage is cut for the endpoint, 200 and more"
    )
    endpoint_requests_per_minute: float | None = Field(
        default=None, gt=0, description="limit of the account; unlimited if not set"
    )

    cohere_api_key: SecretStr | None = Field(default=None, validation_alias="COHERE_API_KEY")
    cohere_api_key_file: Path | None = Field(
        default=None, validation_alias="COHERE_API_KEY_FILE", description="a readable file"
    )
    jina_api_key: SecretStr | None = Field(default=None, validation_alias="JINA_API_KEY")
    jina_api_key_file: Path | None = Field(
        default=None, validation_alias="JINA_API_KEY_FILE", description="a readable file"
    )
    voyage_api_key: SecretStr | None = Field(default=None, validation_alias="VOYAGE_API_KEY")
    voyage_api_key_file: Path | None = Field(
        default=None, validation_alias="VOYAGE_API_KEY_FILE", description="a readable file"
    )
    mixedbread_api_key: SecretStr | None = Field(default=None, validation_alias="MXBAI_API_KEY")
    mixedbread_api_key_file: Path | None = Field(
        default=None, validation_alias="MXBAI_API_KEY_FILE", description="a readable file"
    )

    @field_validator("endpoint_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must be an http or https URL")
        return url.rstrip("/")

    @property
    def dialect(self) -> Dialect | None:
        """The endpoint's dialect, None if there is no endpoint."""
        return None if self.endpoint_kind is None else DIALECTS[self.endpoint_kind]

    @property
    def url(self) -> str:
        """The endpoint's address; empty where neither the settings nor the dialect has one."""
        return self.endpoint_url or (self.dialect.base_url if self.dialect is not None else "")

    def key(self) -> SecretStr | None:
        """Returns the endpoint's key; that of its vendor goes to no other address.

        Raises ValueError, in words for an operator, where it cannot be read.
        """
        own = self._read(*_OWN_KEY)
        hosted = _HOSTED_KEYS.get(self.endpoint_kind or "")
        if own is not None or hosted is None or self.endpoint_url:
            return own
        return self._read(*hosted)

    def check_endpoint(self) -> None:
        """Raises ValueError, in words for an operator, if the endpoint cannot be asked."""
        dialect = self.dialect
        if dialect is None:
            raise ValueError("the implementation endpoint needs JUSTESSE_RERANKER_ENDPOINT_KIND")
        if not self.url:
            raise ValueError(f"{dialect.name} needs JUSTESSE_RERANKER_ENDPOINT_URL")
        if self.key() is None and dialect.hosted and not self.endpoint_url:
            variable = _HOSTED_KEYS[dialect.name][1]
            raise ValueError(f"{dialect.name} needs {variable} or {variable}_FILE")

    def _read(self, field: str, variable: str) -> SecretStr | None:
        value: SecretStr | None = getattr(self, field)
        file: Path | None = getattr(self, f"{field}_file")
        return vendor_key(value, file, variable)
