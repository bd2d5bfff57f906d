"""Found passages as a block for a prompt, with the prompts that go with it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from justesse.client.receipt import Receipt, receipt_from
from justesse.client.search_options import SearchOptions, search_message
from justesse.gateway.v1 import context_pb2


class ContextFormat(StrEnum):
    """How sources are written and cited."""

    NUMBERED = "numbered"
    """`[Source 1: "Title"]`, cited as `[[source:ID|TITLE]]`."""
    TITLED = "titled"
    """`[Source: Title]` between two borders, cited by title."""
    HEADED = "headed"
    """`[Source-1] (Title > Heading)`, cited as `[Source-1]`."""
    UNKNOWN = "unknown"
    """A format that is newer than this client."""


class ContextOptions(TypedDict, total=False):
    """How a context is wanted; one that is left out is as the workspace says."""

    format: ContextFormat | None
    language: str
    """Of the prompts: "fr" or "en"."""
    token_budget: int
    """Estimated tokens that the block has at most, 64 to 128,000."""
    role: str
    """Who answers, and for whom; at most 4 kB."""
    permissions_note: str
    """What may be said to whom; at most 4 kB."""
    live_data: str
    """Facts of the moment that no document has; at most 16 kB."""


@dataclass(frozen=True, slots=True)
class ContextSource:
    """One source of a block: passages that follow each other in a document."""

    index: int
    """Number in the block, from 1."""
    mark: str
    """How an answer cites it."""
    document_id: str
    title: str
    source_uri: str
    heading_path: tuple[str, ...]
    page: str
    """Page or sheet it starts on; empty where there is none."""
    passage_ids: tuple[str, ...]
    rank: int
    """Best rank of its passages among the hits, from 1."""


@dataclass(frozen=True, slots=True)
class LeftOutPassages:
    """Passages that were found and are in no source, by reason."""

    superseded_count: int
    over_document_bound_count: int
    over_budget_count: int


@dataclass(frozen=True, slots=True)
class Context:
    """A block of sources, the best first and the second last, with its prompts."""

    block: str
    """Empty where nothing was found, or all of it was left out."""
    format: ContextFormat
    language: str
    sources: tuple[ContextSource, ...]
    system_prompt: str
    user_prompt: str
    """Holds the block between two lines `boundary`, live data, the conversation, the question."""
    boundary: str
    token_estimate: int
    """Of the block, rather too many than too few."""
    left_out: LeftOutPassages
    cut: bool
    """The only source was longer than the budget and ends early."""
    searched_queries: tuple[str, ...]
    receipt: Receipt


_FORMATS = {
    context_pb2.CONTEXT_FORMAT_NUMBERED: ContextFormat.NUMBERED,
    context_pb2.CONTEXT_FORMAT_TITLED: ContextFormat.TITLED,
    context_pb2.CONTEXT_FORMAT_HEADED: ContextFormat.HEADED,
}
_MESSAGES = {known: message for message, known in _FORMATS.items()}


def context_message(
    workspace: str, query: str, wanted: ContextOptions, options: SearchOptions
) -> context_pb2.BuildContextRequest:
    """Encodes what is asked for; TypeError and ValueError for options that cannot be sent."""
    style = wanted.get("format")
    if style is ContextFormat.UNKNOWN:
        raise ValueError("format cannot be UNKNOWN; name one, or leave it out")
    return context_pb2.BuildContextRequest(
        search=search_message(workspace, query, options),
        format=_MESSAGES[style] if style else context_pb2.CONTEXT_FORMAT_UNSPECIFIED,
        language=wanted.get("language", ""),
        token_budget=wanted.get("token_budget", 0),
        role=wanted.get("role", ""),
        permissions_note=wanted.get("permissions_note", ""),
        live_data=wanted.get("live_data", ""),
    )


def context_from(message: context_pb2.BuildContextResponse) -> Context:
    """Decodes a context."""
    left_out = message.left_out
    return Context(
        block=message.block,
        format=_FORMATS.get(message.format, ContextFormat.UNKNOWN),
        language=message.language,
        sources=tuple(map(_source_from, message.sources)),
        system_prompt=message.system_prompt,
        user_prompt=message.user_prompt,
        boundary=message.boundary,
        token_estimate=message.token_estimate,
        left_out=LeftOutPassages(
            left_out.superseded_count,
            left_out.over_document_bound_count,
            left_out.over_budget_count,
        ),
        cut=message.cut,
        searched_queries=tuple(message.searched_queries),
        receipt=receipt_from(message.receipt),
    )


def _source_from(message: context_pb2.ContextSource) -> ContextSource:
    return ContextSource(
        index=message.index,
        mark=message.mark,
        document_id=message.document_id,
        title=message.title,
        source_uri=message.source_uri,
        heading_path=tuple(message.heading_path),
        page=message.page,
        passage_ids=tuple(message.passage_ids),
        rank=message.rank,
    )
