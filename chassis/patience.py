"""How long and how often something that fails is asked again."""

from __future__ import annotations

import random

from pydantic import BaseModel, ConfigDict, Field


class Patience(BaseModel):
    """How long and how often a vendor is asked; times in seconds."""

    model_config = ConfigDict(frozen=True)

    attempt_timeout_s: float = Field(default=30.0, gt=0, description="one attempt, all in all")
    total_timeout_s: float = Field(default=60.0, gt=0, description="all attempts and pauses")
    fair_timeout_s: float = Field(
        default=0.0, ge=0, description="with less, an attempt that times out proves no outage"
    )
    attempts: int = Field(default=3, ge=1, le=5)
    backoff_s: float = Field(default=0.5, gt=0, description="upper bound of the first pause")
    max_backoff_s: float = Field(default=8.0, gt=0)
    max_retry_after_s: float = Field(default=30.0, ge=0)

    def pause(self, attempt: int, asked_s: float | None, rng: random.Random) -> float:
        """Returns the seconds to wait after this attempt, counted from 1.

        Full jitter below a doubling bound; or what the vendor asks for, below its own cap.
        """
        if asked_s is not None:
            return min(asked_s + rng.uniform(0.0, self.backoff_s), self.max_retry_after_s)
        bound = self.backoff_s * 2 ** (attempt - 1)
        return rng.uniform(0.0, min(bound, self.max_backoff_s))

    def is_fair(self, seconds: float) -> bool:
        """Whether an attempt that was given so many seconds says something of the vendor."""
        return seconds >= min(self.fair_timeout_s, self.attempt_timeout_s)
