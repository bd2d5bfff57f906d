"""Settings of the reranker service, read from JUSTESSE_RERANKER_*."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from chat_models.settings import ChatSettings
from reranker_svc.endpoint_settings import EndpointSettings
from reranker_svc.implementation import Implementation
from reranker_svc.limits import RequestLimits

ImplementationName = Literal["chat", "endpoint", "folder", "formula"]


class RerankerSettings(ServiceSettings, ServerSettings, EndpointSettings, ChatSettings):
    """Where the service listens, what it refuses, who sorts, and how the formula weighs."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_RERANKER_", populate_by_name=True)

    port: int = 50054
    implementations: tuple[ImplementationName, ...] = Field(
        default=("formula",),
        min_length=1,
        description="names in the order to try, separated by commas, of: chat, endpoint, "
        "folder, formula",
    )
    workspace_implementations: Mapping[str, tuple[ImplementationName, ...]] = Field(
        default_factory=dict,
        description='other orders for some workspaces, as JSON: {"acme": ["endpoint", "formula"]}',
    )
    model_candidate_count: int = Field(
        default=10, ge=2, le=200, description="candidates that a model looks at, if not told"
    )
    similarity_weight: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="0 to 1, share of the cosine in the formula; the rest is the share of BM25",
    )
    pause_without_model_s: float = Field(
        default=10.0,
        ge=0,
        le=60,
        description="seconds, 0 to 60, for which a gateway sorts by the formula itself where no "
        "model is named",
    )
    chat_passage_tokens: int = Field(
        default=500, ge=40, description="of a passage, what a chat model is shown, 40 and more"
    )
    chat_spare_tokens: int = Field(
        default=32,
        ge=0,
        description="tokens that an answer may take besides its numbers; more for models that "
        "think first",
    )
    folder_path: Path | None = Field(
        default=None, description="folder with a cross-encoder: model.onnx and tokenizer.json"
    )
    folder_input_tokens: int = Field(default=512, ge=64, le=65536, description="64 to 65536")
    folder_batch_tokens: int = Field(
        default=4096, ge=64, description="tokens scored at once, padding included"
    )
    max_question_bytes: int = Field(default=8 * 1024, gt=0, description="bytes of UTF-8")
    max_candidates: int = Field(default=200, gt=0, description="candidates in one request")

    @model_validator(mode="after")
    def _implementations_are_configured(self) -> "RerankerSettings":
        orders = [self.implementations, *self.workspace_implementations.values()]
        if any(not names or len(set(names)) < len(names) for names in orders):
            raise ValueError("an order of implementations must name one, and each at most once")
        named = {name for names in orders for name in names}
        if "chat" in named and not self.chat_models:
            raise ValueError("the implementation chat needs JUSTESSE_RERANKER_CHAT_MODELS")
        if self.endpoint_kind is not None or "endpoint" in named:
            self.check_endpoint()
        if "folder" in named and self.folder_path is None:
            raise ValueError("the implementation folder needs JUSTESSE_RERANKER_FOLDER_PATH")
        return self

    def order_of(self, workspace: str) -> tuple[Implementation, ...]:
        """Returns the implementations to try for a workspace, in their order."""
        names = self.workspace_implementations.get(workspace, self.implementations)
        return tuple(map(Implementation, names))

    def request_limits(self) -> RequestLimits:
        """Returns the bounds that requests are checked against."""
        return RequestLimits(question_bytes=self.max_question_bytes, candidates=self.max_candidates)
