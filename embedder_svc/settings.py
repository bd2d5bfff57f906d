"""What the embedder can be told, as `JUSTESSE_EMBEDDER_...`."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from embedder_svc.prefixes import Prefixes
from embedder_svc.providers import mistral, ollama, openai_compatible, voyage
from embedder_svc.providers.deterministic import DEFAULT_DIMENSION
from embedder_svc.providers.model_folder import FolderModel, Pooling
from embedder_svc.vendor_settings import VendorSettings

ProviderName = Literal[
    "mistral", "voyage", "ollama", "openai", "folder", "embedded", "deterministic"
]


class EmbedderSettings(ServiceSettings, ServerSettings, VendorSettings):
    """Settings of the embedder."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_EMBEDDER_", populate_by_name=True)

    port: int = Field(default=50051, description="business port, 0 to 65535; 0 = a free one")
    providers: tuple[ProviderName, ...] = Field(
        default=("mistral", "voyage", "ollama", "embedded"),
        min_length=1,
        description="names in the order to try, separated by commas, of: mistral, voyage, ollama, "
        "openai, folder, embedded, deterministic",
    )
    folder_path: Path | None = Field(
        default=None, description="folder with model.onnx and tokenizer.json"
    )
    folder_pooling: Pooling = Field(default="mean", description="mean, cls or last")
    folder_input_tokens: int = Field(default=512, ge=8, le=65536, description="8 to 65536")
    folder_query_prefix: str = Field(default="", description="words put before a query")
    folder_document_prefix: str = Field(default="", description="words put before a passage")
    deterministic_dimension: int = Field(
        default=DEFAULT_DIMENSION,
        ge=8,
        le=4096,
        description="width of the test encoder's vectors, 8 to 4096",
    )
    check_interval_s: float = Field(
        default=60.0, gt=0, description="seconds between two connectivity checks"
    )
    cache_max_bytes: int = Field(
        default=64 * 2**20, ge=0, description="memory for known vectors; 0 keeps none"
    )
    cache_ttl_s: float = Field(
        default=86_400.0, gt=0, description="seconds for which a vector is kept at most"
    )
    data_folder: Path | None = Field(
        default=None,
        description="folder where known vectors and the costs of the day outlive a restart; not "
        "set: they are kept in memory only",
    )
    daily_cost_cap: float | None = Field(
        default=None,
        ge=0,
        description="what a workspace may cost a day (UTC) before only free providers embed for "
        "it, in the currency of the prices; unlimited if not set",
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

    @model_validator(mode="after")
    def _models_are_known(self) -> "EmbedderSettings":
        if "mistral" in self.providers and self.mistral_model not in mistral.MODELS:
            raise ValueError(f"mistral_model must be one of {', '.join(mistral.MODELS)}")
        if "voyage" in self.providers and self.voyage_model not in voyage.MODELS:
            raise ValueError(f"voyage_model must be one of {', '.join(voyage.MODELS)}")
        for name, models in (("ollama", ollama.MODELS), ("openai", openai_compatible.MODELS)):
            model = getattr(self, f"{name}_model")
            width = getattr(self, f"{name}_dimension")
            if name in self.providers and model not in models and width is None:
                raise ValueError(f"{name}_dimension must tell the width of {name}_model={model}")
        if "folder" in self.providers and self.folder_path is None:
            raise ValueError("folder_path must name the folder of the provider 'folder'")
        return self

    def folder_model(self) -> FolderModel:
        """Returns the model from a folder, as the settings describe it."""
        assert self.folder_path is not None
        return FolderModel(
            self.folder_path,
            self.folder_pooling,
            self.folder_input_tokens,
            Prefixes(self.folder_query_prefix, self.folder_document_prefix),
        )
