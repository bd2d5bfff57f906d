"""Queries in a better wording."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gateway.receipt import StageReport


class ConversationRole(Enum):
    """Who spoke a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One turn of a conversation."""

    role: ConversationRole
    text: str


class RewriteOrigin(Enum):
    """Where a rewritten query comes from."""

    ORIGINAL = "original"
    MODEL = "model"
    CACHE = "cache"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The query to search with, and the question that stands alone without the history.

    Both equal the original where nothing was rewritten; the report says why.
    """

    query: str
    standalone_question: str
    report: StageReport
    origin: RewriteOrigin = RewriteOrigin.ORIGINAL


@dataclass(frozen=True, slots=True)
class Wordings:
    """Wordings to search with, the original first, and the question that stands alone.

    `origin` says where the wordings after the first come from.
    """

    searched: tuple[str, ...]
    standalone_question: str
    origin: RewriteOrigin = RewriteOrigin.ORIGINAL

    @classmethod
    def unchanged(cls, query: str) -> Wordings:
        """Returns the original alone."""
        return cls((query,), query)

    @classmethod
    def rewritten(cls, query: str, rewrite: Rewrite) -> Wordings:
        """Returns the original and, where it differs, the rewritten wording."""
        searched = tuple(dict.fromkeys((query, rewrite.query)))
        return cls(searched, rewrite.standalone_question, rewrite.origin)
