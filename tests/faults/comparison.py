"""Compares everything a retriever holds with the ledger of its clients."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from justesse.retriever.v1 import documents_pb2, search_pb2, workspaces_pb2
from tests.fakes.retriever_client import SPACE, RetrieverClient
from tests.faults.changes import COMMON_WORD, PASSAGES, rows_of, texts_of
from tests.faults.ledger import GONE, Ledger

LEXICAL = search_pb2.SEARCH_MODE_LEXICAL
DENSE = search_pb2.SEARCH_MODE_DENSE
_MOST_CANDIDATES = 200
_MOST_HITS = 400


async def compare(client: RetrieverClient, ledger: Ledger, hint: str) -> int:
    """Checks every passage by id, by its own word and by its own vector, and that nothing else is
    found; settles what had no answer. Returns how many passages were compared.
    """
    known = ledger.read()
    stored = {document: await _version(client, document) async for document in _listed(client)}
    assert stored.keys() <= known.acknowledged.keys(), f"{hint}: a document nobody sent"
    expected: list[str] = []
    for document in known.acknowledged:
        version = stored.get(document, GONE)
        possible = known.possible(document)
        assert version in possible, f"{hint}: {document} is at {version}, not at {possible}"
        if known.unanswered[document]:
            ledger.settle(document, version)
        if version != GONE:
            expected += texts_of(document, version)
            await _compare_found(client, document, version, hint)
    await _compare_whole(client, expected, hint)
    return len(expected)


async def _listed(client: RetrieverClient) -> AsyncIterator[str]:
    token = ""
    while True:
        page = await client.documents.ListDocuments(
            documents_pb2.ListDocumentsRequest(workspace="docs", page_size=50, page_token=token)
        )
        for listed in page.documents:
            yield listed.document.external_id
        token = page.next_page_token
        if not token:
            return


async def _version(client: RetrieverClient, document: str) -> int:
    """Reads which version of a document is stored, whole."""
    stored = await client.documents.GetDocument(
        documents_pb2.GetDocumentRequest(
            workspace="docs", external_id=document, include_passages=True
        )
    )
    version = int(stored.document.content_hash.removeprefix("version "))
    texts = [passage.passage.text for passage in stored.passages]
    assert texts == texts_of(document, version), f"{document} is half-written"
    assert all(list(passage.space_ids) == [SPACE] for passage in stored.passages), document
    return version


async def _compare_found(client: RetrieverClient, document: str, version: int, hint: str) -> None:
    for text, row in zip(texts_of(document, version), rows_of(document, version), strict=True):
        words = await client.find(text.split()[0], mode=LEXICAL)
        near = await client.find("rien", row, mode=DENSE, limit=1)
        assert [hit.passage.text for hit in words.hits] == [text], hint
        assert [hit.passage.text for hit in near.hits] == [text], hint
        assert near.hits[0].space_scores[0].cosine == pytest.approx(1, abs=1e-5), hint


async def _compare_whole(client: RetrieverClient, expected: list[str], hint: str) -> None:
    assert len(expected) <= _MOST_CANDIDATES, "one search must be able to find all"
    described = await client.workspaces.DescribeWorkspace(
        workspaces_pb2.DescribeWorkspaceRequest(slug="docs")
    )
    everything: dict[str, Any] = {"candidate_count": _MOST_CANDIDATES, "limit": _MOST_HITS}
    words = await client.find(COMMON_WORD, mode=LEXICAL, **everything)
    assert sorted(hit.passage.text for hit in words.hits) == sorted(expected), hint
    # Counted before texts are read: an entry of a passage that is gone would show here alone.
    assert words.lists[0].hit_count == len(expected), hint
    assert described.workspace.passage_count == len(expected), hint
    assert described.workspace.document_count == len(expected) / PASSAGES, hint
    held = [space.passage_count for space in described.workspace.spaces]
    assert held == ([len(expected)] if expected else []), hint
    if expected:
        near = await client.find("rien", rows_of("any", 1)[0], mode=DENSE, **everything)
        assert sorted(hit.passage.text for hit in near.hits) == sorted(expected), hint
        assert near.lists[0].hit_count == len(expected), hint
