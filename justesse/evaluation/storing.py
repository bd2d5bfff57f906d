"""Takes the documents of a set into a workspace; those that are there already stay."""

import asyncio
from collections.abc import Callable, Sequence

from justesse.client import (
    AsyncJustesse,
    DocumentFacts,
    JustesseError,
    NotFoundError,
    WorkspaceSettings,
)
from justesse.evaluation.judged_set import JudgedDocument

_AT_ONCE = 2


async def store_documents(
    justesse: AsyncJustesse,
    workspace: str,
    documents: Sequence[JudgedDocument],
    settings: WorkspaceSettings,
    report: Callable[[JudgedDocument], None],
) -> None:
    """Creates the workspace if need be and stores what it lacks.

    `report` is called for each document, also for those that are there. Raises the first
    JustesseError; what was stored before it is kept.
    """
    try:
        await justesse.describe_workspace(workspace)
    except NotFoundError:
        await justesse.create_workspace(workspace, settings)
    known = {document.external_id async for document in justesse.iterate_documents(workspace)}
    turns = asyncio.Semaphore(_AT_ONCE)

    async def store(document: JudgedDocument) -> None:
        async with turns:
            if document.document_id not in known:
                await justesse.ingest(
                    workspace,
                    document.text.encode(),
                    file_name="document.txt",
                    **_facts(document),
                )
        report(document)

    try:
        async with asyncio.TaskGroup() as group:
            for document in documents:
                group.create_task(store(document))
    except* JustesseError as failures:
        raise failures.exceptions[0] from failures


def _facts(document: JudgedDocument) -> DocumentFacts:
    facts = DocumentFacts(external_id=document.document_id, metadata=document.metadata)
    if document.title:
        facts["title"] = document.title
    return facts
