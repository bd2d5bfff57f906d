"""What embedding costs."""

from dataclasses import dataclass

_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in units of an ISO 4217 currency."""

    per_million_tokens: float
    currency: str = "USD"

    def of(self, token_count: int) -> float:
        """Returns what so many tokens cost."""
        return self.per_million_tokens * token_count / _TOKENS


FREE = Price(0.0)
