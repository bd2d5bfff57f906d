"""What each call about a glossary sends and how its answer is read."""

from collections.abc import Iterable

from justesse.client import methods
from justesse.client.glossary import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
    entry_messages,
    glossary_change_from,
    glossary_deletion_from,
    glossary_page_from,
)
from justesse.client.requests import Call, CallFor
from justesse.gateway.v1 import glossary_pb2


def list_glossary_entries(workspace: str, page_size: int, page_token: str) -> CallFor[GlossaryPage]:
    """Asks for one page of entries."""
    request = glossary_pb2.ListGlossaryEntriesRequest(
        workspace=workspace, page_size=page_size, page_token=page_token
    )
    return Call(methods.LIST_GLOSSARY_ENTRIES, request, glossary_page_from)


def put_glossary_entries(
    workspace: str, entries: Iterable[GlossaryEntry], replace_all: bool
) -> CallFor[GlossaryChange]:
    """Asks for entries to be there."""
    request = glossary_pb2.PutGlossaryEntriesRequest(
        workspace=workspace, entries=entry_messages(entries), replace_all=replace_all
    )
    return Call(methods.PUT_GLOSSARY_ENTRIES, request, glossary_change_from)


def delete_glossary_entries(workspace: str, terms: Iterable[str]) -> CallFor[GlossaryDeletion]:
    """Asks for entries to be deleted."""
    request = glossary_pb2.DeleteGlossaryEntriesRequest(workspace=workspace, terms=terms)
    return Call(methods.DELETE_GLOSSARY_ENTRIES, request, glossary_deletion_from)
