"""Settings of the rewriter service, read from JUSTESSE_REWRITER_*."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from rewriter_svc.limits import RequestLimits


class RewriterSettings(ServiceSettings, ServerSettings):
    """Where the service listens, what it refuses, and what it leaves alone."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_REWRITER_")

    port: int = 50053
    shortest_query_characters: int = Field(
        default=6, ge=0, description="characters; shorter queries are not rewritten"
    )
    max_query_bytes: int = Field(default=8 * 1024, gt=0, description="bytes of UTF-8")
    max_history_turns: int = Field(default=20, ge=0, description="turns")
    max_history_bytes: int = Field(default=32 * 1024, ge=0, description="bytes of UTF-8, in all")

    def request_limits(self) -> RequestLimits:
        """Returns the bounds that requests are checked against."""
        return RequestLimits(
            query_bytes=self.max_query_bytes,
            history_turns=self.max_history_turns,
            history_bytes=self.max_history_bytes,
        )
