"""What reranking costs."""

import math
from dataclasses import dataclass

_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class RerankPrice:
    """Prices in units of an ISO 4217 currency: by token, by search, or both.

    A search holds up to `search_documents` documents; more are as many searches as they fill.
    """

    per_million_tokens: float = 0.0
    per_search: float = 0.0
    search_documents: int = 1
    currency: str = "USD"

    def of(self, token_count: int, document_count: int) -> float:
        """Returns what one request costs."""
        searches = math.ceil(document_count / self.search_documents)
        return self.per_million_tokens * token_count / _TOKENS + self.per_search * searches


FREE = RerankPrice()
