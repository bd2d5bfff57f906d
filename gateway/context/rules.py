"""How a context is made of hits."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.context.formats import ContextFormat

LEAST_TOKEN_BUDGET = 64
MOST_TOKEN_BUDGET = 128_000


@dataclass(frozen=True, slots=True)
class ContextRules:
    """The format; estimated tokens that a block has at most, 64 to 128,000; and the most passages
    of one document, where 0 means no bound."""

    style: ContextFormat = ContextFormat.NUMBERED
    token_budget: int = 6_000
    passages_per_document: int = 3
