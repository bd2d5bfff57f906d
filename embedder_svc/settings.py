"""What the embedder can be told, as `JUSTESSE_EMBEDDER_...`."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from embedder_svc.providers.deterministic import DEFAULT_DIMENSION

ProviderName = Literal["embedded", "deterministic"]


class EmbedderSettings(ServiceSettings, ServerSettings):
    """Settings of the embedder."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_EMBEDDER_")

    port: int = Field(default=50051, description="business port, 0 to 65535; 0 = a free one")
    providers: tuple[ProviderName, ...] = Field(
        default=("embedded",),
        min_length=1,
        description="names in the order to try, separated by commas, of: embedded, deterministic",
    )
    deterministic_dimension: int = Field(
        default=DEFAULT_DIMENSION,
        ge=8,
        le=4096,
        description="width of the test encoder's vectors, 8 to 4096",
    )
    check_interval_s: float = Field(
        default=60.0, gt=0, description="seconds between two connectivity checks"
    )
    breaker_threshold: int = Field(
        default=5, ge=1, description="failures in a row after which a provider is passed over"
    )
    breaker_open_s: float = Field(
        default=30.0, gt=0, le=300.0, description="seconds before it is tried again, up to 300"
    )

    @field_validator("providers")
    @classmethod
    def _each_once(cls, names: tuple[ProviderName, ...]) -> tuple[ProviderName, ...]:
        if len(set(names)) < len(names):
            raise ValueError("each provider may stand in the chain once")
        return names
