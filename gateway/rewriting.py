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

    Both equal the original where nothing was rewritten; the report says why. The weights are those
    of the query's lists beside the original's, which are 1; 0 leaves lists out. For
    `unchanged_for_s` seconds every query would come back unchanged, for the same reason.
    """

    query: str
    standalone_question: str
    report: StageReport
    origin: RewriteOrigin = RewriteOrigin.ORIGINAL
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    unchanged_for_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording to search with, and the weights of its lists; 0 leaves lists out."""

    text: str
    dense_weight: float = 1.0
    lexical_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Wordings:
    """Wordings to search with, and the question that stands alone.

    Candidates are scored against the first: the standalone question where there is a history, else
    the original. The original is always among them. `origin` says where the last one comes from.
    """

    searched: tuple[Wording, ...]
    standalone_question: str
    origin: RewriteOrigin = RewriteOrigin.ORIGINAL

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the wordings, in order."""
        return tuple(wording.text for wording in self.searched)

    @classmethod
    def unchanged(cls, query: str) -> Wordings:
        """Returns the original alone."""
        return cls((Wording(query),), query)

    @classmethod
    def rewritten(cls, query: str, rewrite: Rewrite) -> Wordings:
        """Returns the standalone question, the original and the rewritten wording, each once."""
        wordings: dict[str, Wording] = {}
        for wording in (
            Wording(rewrite.standalone_question),
            Wording(query),
            Wording(rewrite.query, rewrite.dense_weight, rewrite.lexical_weight),
        ):
            wordings.setdefault(wording.text, wording)
        return cls(tuple(wordings.values()), rewrite.standalone_question, rewrite.origin)

    def explanation(self) -> str:
        """Says in words how the wordings besides the first are searched; empty without any."""
        others = [
            f"wording {number}: vectors {wording.dense_weight:g}, BM25 {wording.lexical_weight:g}"
            for number, wording in enumerate(self.searched[1:], start=1)
        ]
        return f"weights beside the first wording: {'; '.join(others)}" if others else ""
