"""What a search can be told beside its question."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from justesse.client.filters import Filter
from justesse.client.fusion import Fusion, fusion_message
from justesse.client.metadata import MetadataValue, metadata_messages
from justesse.client.search_result import Speaker, Turn
from justesse.client.thresholds import Threshold, threshold_message
from justesse.gateway.v1 import search_pb2


class SearchOptions(TypedDict, total=False):
    """Options of a search; one that is left out, or None, takes its default."""

    limit: int | None
    """Hits on a page, 1 to 100; 8 by default."""
    history: Sequence[Turn]
    """Earlier turns of the conversation, oldest first, at most 20."""
    passages_per_document: int
    """Most passages of one document among the hits; 0, the default, means no bound."""
    group_by_document: bool
    """Passages of one document come together; `limit` then counts documents."""
    candidate_count: int
    """Length of each list before fusion, 1 to 200; 0, the default, leaves it to its switch."""
    page_token: str
    """`SearchResult.next_page_token` of the answer before; all but `limit` must be as then."""
    highlight: bool
    """Says for each hit where its text holds terms of the question."""
    include_parents: bool
    """Hits come with the blocks that they are parts of, in workspaces that search parts."""
    filter: Filter | None
    """What documents must fulfil, see `justesse.client.filters`."""
    thresholds: Sequence[Threshold]
    """Rules that drop hits; a hit that misses any of them is dropped."""
    context: Mapping[str, MetadataValue]
    """Facts about the request that thresholds compare with, for example the week looked at."""
    fusion: Fusion | None
    """How lists are fused, where not as the workspace's settings say."""


_ROLES = {
    Speaker.USER: search_pb2.CONVERSATION_ROLE_USER,
    Speaker.ASSISTANT: search_pb2.CONVERSATION_ROLE_ASSISTANT,
}


def search_message(
    workspace: str, query: str, options: SearchOptions
) -> search_pb2.SearchPassagesRequest:
    """Encodes a question; TypeError and ValueError for options that cannot be sent."""
    condition, fusion = options.get("filter"), options.get("fusion")
    return search_pb2.SearchPassagesRequest(
        workspace=workspace,
        query=query,
        limit=options.get("limit"),
        history=[
            search_pb2.ConversationTurn(role=_ROLES[turn.speaker], text=turn.text)
            for turn in options.get("history", ())
        ],
        passages_per_document=options.get("passages_per_document", 0),
        group_by_document=options.get("group_by_document", False),
        candidate_count=options.get("candidate_count", 0),
        page_token=options.get("page_token", ""),
        highlight=options.get("highlight", False),
        include_parents=options.get("include_parents", False),
        filter=None if condition is None else condition.message,
        thresholds=[threshold_message(each) for each in options.get("thresholds", ())],
        context=metadata_messages(options.get("context", {})),
        fusion=None if fusion is None else fusion_message(fusion),
    )
