"""What is asked of a rewriter and what it gives back."""

from dataclasses import dataclass
from enum import Enum


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
class GlossaryEntry:
    """A term of the workspace and the words its documents use for it."""

    term: str
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """A non-blank query with what helps to rewrite it.

    `language` is "fr", "en", or empty when unknown; `history` is oldest first.
    """

    workspace: str
    query: str
    language: str = ""
    history: tuple[ConversationTurn, ...] = ()
    glossary: tuple[GlossaryEntry, ...] = ()
    glossary_version: int = 0


class RewriteOrigin(Enum):
    """Where the query of a rewrite comes from."""

    ORIGINAL = "original"
    MODEL = "model"
    CACHE = "cache"
    RULES = "rules"


class StageOutcome(Enum):
    """How the stage ended."""

    RAN = "ran"
    SKIPPED = "skipped"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class StageReport:
    """What was done, by whom and at what price.

    `reason` is UPPER_SNAKE and `detail` its wording; both are empty for a stage that ran, and
    neither ever holds query text. `cost` is in units of `currency` (ISO 4217), None where unknown.
    """

    outcome: StageOutcome
    reason: str = ""
    detail: str = ""
    provider: str = ""
    model: str = ""
    latency_ms: float = 0.0
    input_token_count: int = 0
    output_token_count: int = 0
    cost: float | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class ListWeights:
    """Weights of the rewritten query's lists beside those of the original, which are 1.

    0 leaves a list out: one may help where the other repeats what is known.
    """

    dense: float = 1.0
    lexical: float = 1.0


EVEN_WEIGHTS = ListWeights()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The query to search with and the question that stands alone without the history.

    Within `unchanged_for_s` seconds no query without glossary entries will be rewritten; None where
    the next one may be.
    """

    query: str
    standalone_question: str
    origin: RewriteOrigin
    report: StageReport
    weights: ListWeights = EVEN_WEIGHTS
    unchanged_for_s: float | None = None


def original(query: str, report: StageReport) -> Rewrite:
    """Returns the rewrite that leaves the query exactly as it is, for the report's reason."""
    return Rewrite(query, query, RewriteOrigin.ORIGINAL, report)
