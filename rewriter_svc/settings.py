"""Settings of the rewriter service, read from JUSTESSE_REWRITER_*."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from chat_models.settings import ChatSettings
from rewriter_svc.limits import RequestLimits
from rewriter_svc.rewriting import ListWeights


class RewriterSettings(ServiceSettings, ServerSettings, ChatSettings):
    """Where the service listens, whom it asks, what it refuses, and what it leaves alone."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_REWRITER_", populate_by_name=True)

    port: int = 50053
    shortest_query_characters: int = Field(
        default=6, ge=0, description="characters; shorter queries are not rewritten"
    )
    max_query_bytes: int = Field(default=8 * 1024, gt=0, description="bytes of UTF-8")
    max_history_turns: int = Field(default=20, ge=0, description="turns")
    max_history_bytes: int = Field(default=32 * 1024, ge=0, description="bytes of UTF-8, in all")
    keywords: bool = Field(
        default=False,
        description="whether, without a chat model, the words that a question is about are "
        "searched by vectors beside it, which takes one more embedding",
    )
    pause_without_model_s: float = Field(
        default=10.0,
        ge=0,
        le=60,
        description="seconds for which callers need not ask a rewriter that has neither a chat "
        "model nor keywords; 0: they ask with every query",
    )
    max_output_tokens: int = Field(
        default=160, ge=16, le=4096, description="tokens that a model may write for a rewrite"
    )
    cache_max_entries: int = Field(default=200, ge=0, description="rewrites; 0 keeps none")
    cache_ttl_s: float = Field(default=300.0, gt=0, description="seconds")
    dense_weight: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="weight of a model's wording in vector lists, beside the question's 1",
    )
    lexical_weight: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="weight of a model's wording in BM25 lists, beside the question's 1",
    )

    def request_limits(self) -> RequestLimits:
        """Returns the bounds that requests are checked against."""
        return RequestLimits(
            query_bytes=self.max_query_bytes,
            history_turns=self.max_history_turns,
            history_bytes=self.max_history_bytes,
        )

    def list_weights(self) -> ListWeights:
        """Returns the weights of what a model writes."""
        return ListWeights(self.dense_weight, self.lexical_weight)
