"""Settings of the reranker service, read from JUSTESSE_RERANKER_*."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from reranker_svc.limits import RequestLimits


class RerankerSettings(ServiceSettings, ServerSettings):
    """Where the service listens, what it refuses, and how the embedded formula weighs."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_RERANKER_")

    port: int = 50054
    similarity_weight: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="0 to 1, share of the cosine in the formula; the rest is the share of BM25",
    )
    max_question_bytes: int = Field(default=8 * 1024, gt=0, description="bytes of UTF-8")
    max_candidates: int = Field(default=200, gt=0, description="candidates in one request")

    def request_limits(self) -> RequestLimits:
        """Returns the bounds that requests are checked against."""
        return RequestLimits(question_bytes=self.max_question_bytes, candidates=self.max_candidates)
