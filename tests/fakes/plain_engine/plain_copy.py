"""A plain workspace as it is copied."""

from collections.abc import AsyncIterator

import numpy as np

from retriever_svc.documents import WINDOWS_AWAITED, DocumentUpsert, PassageVectors
from retriever_svc.transfers.workspace_copy import CopiedSpace, WorkspaceCopy, WorkspaceHead
from tests.fakes.plain_engine.plain_workspace import PlainPassage, PlainWorkspace


def plain_copy(workspace: PlainWorkspace) -> WorkspaceCopy:
    """Returns the copy of a workspace that changes no more."""
    head = WorkspaceHead(
        workspace.settings,
        tuple(
            CopiedSpace(space_id, space.dimension, space.canary)
            for space_id, space in sorted(workspace.spaces.items())
        ),
        workspace.preferred_space_id if workspace.preferred_space_id in workspace.spaces else "",
    )
    return WorkspaceCopy(head, _documents(workspace))


async def _documents(workspace: PlainWorkspace) -> AsyncIterator[DocumentUpsert]:
    for external_id, document in workspace.documents.items():
        passages = workspace.passages_of(external_id)
        yield DocumentUpsert(
            workspace.slug,
            document.document,
            tuple(one.passage for one in passages),
            tuple(
                _vectors(space_id, space.dimension, passages)
                for space_id, space in sorted(workspace.spaces.items())
                if any(space_id in one.vectors for one in passages)
            ),
        )


def _vectors(space_id: str, dimension: int, passages: list[PlainPassage]) -> PassageVectors:
    held = [
        (position, one.vectors[space_id])
        for position, one in enumerate(passages)
        if space_id in one.vectors
    ]
    windows = [one.windows for _, one in held if one.windows is not None]
    return PassageVectors(
        space_id,
        np.array([position for position, _ in held], np.int64),
        np.stack([one.vector for _, one in held]),
        np.array(
            [WINDOWS_AWAITED if one.windows is None else len(one.windows) for _, one in held],
            np.int64,
        ),
        np.concatenate([np.empty((0, dimension), np.float32), *windows]),
        sliced_rows=frozenset(row for row, (_, one) in enumerate(held) if one.sliced),
    )
