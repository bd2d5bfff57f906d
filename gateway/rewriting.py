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


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The query to search with, and the question that stands alone without the history.

    Both equal the original where nothing was rewritten; the report says why.
    """

    query: str
    standalone_question: str
    report: StageReport
