"""Fills a vector space of a workspace with the passages that it lacks, a batch at a time.

Each batch is stored before the next is read, so whoever comes after a crash goes on where it ended.
A lease keeps two from paying for the same passages; vectors of a holder that lost it are refused.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field, replace

from gateway.documents import VectorBlock
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.chunking.embedded_text import embedded_text_again, embedded_text_hash
from gateway.ingestion.movers.space_leases import leased
from gateway.ingestion.passage_vectors import PassageVectors
from gateway.ingestion.passage_windows import PassageWindows
from gateway.ports import SpaceStore
from gateway.receipt import StageReport
from gateway.spaces import AwaitingPassage, PassageVectorsPut
from gateway.workspaces import Workspace

_READ_TIMEOUT_S = 30.0
_WRITE_TIMEOUT_S = 120.0
_MOST_REFUSED = 100_000


@dataclass(frozen=True, slots=True)
class FilledBatch:
    """What became of one batch: passages that have a vector now, that are gone or have another text
    by now, and that the model cannot embed; and what the embedder's calls took."""

    stored_count: int
    outdated_count: int
    refused_count: int
    reports: tuple[StageReport, ...] = ()


@dataclass(frozen=True, slots=True)
class SpaceFilling:
    """Embeds and stores what spaces lack, for one `holder` of leases.

    Passages that a model could not embed are remembered in `refused`, by space and passage id, and
    not sent to it again.
    """

    store: SpaceStore
    vectors: PassageVectors
    windows: PassageWindows
    holder: str
    batch_size: int = 32
    refused: set[tuple[str, str]] = field(default_factory=set)

    async def fill(
        self, workspace: Workspace, space_id: str, *, leave_others: bool
    ) -> AsyncGenerator[FilledBatch, None]:
        """Yields after each stored batch; ends when every passage was looked at once.

        With `leave_others`, passages leave the spaces they were in. Raises SpaceBusy where
        somebody else works on the space, and what the embedder and the retriever raise. The lease
        is given back when the iterator is closed.
        """
        async with leased(self.store, workspace.slug, space_id, self.holder):
            token = ""
            while True:
                page = await self.store.list_passages_awaiting(
                    workspace.slug, space_id, self.batch_size, token, timeout=_READ_TIMEOUT_S
                )
                awaiting = [one for one in page.passages if not self._refused(space_id, one)]
                if awaiting:
                    yield await self._fill_batch(workspace, space_id, awaiting, leave_others)
                token = page.next_page_token
                if not token:
                    return

    def _refused(self, space_id: str, awaiting: AwaitingPassage) -> bool:
        return (space_id, awaiting.passage_id) in self.refused

    def _note_refused(self, space_id: str, awaiting: Iterable[AwaitingPassage]) -> int:
        refused = {(space_id, one.passage_id) for one in awaiting}
        if len(self.refused) + len(refused) > _MOST_REFUSED:
            self.refused.clear()
        self.refused.update(refused)
        return len(refused)

    async def _fill_batch(
        self,
        workspace: Workspace,
        space_id: str,
        awaiting: Sequence[AwaitingPassage],
        leave_others: bool,
    ) -> FilledBatch:
        passages = [cut_again(one) for one in awaiting]
        new = await self.vectors.in_space(passages, space_id, workspace.slug, workspace.canaries)
        new = await self.windows.added_to(new, passages, workspace.slug, workspace.canaries)
        if new.block is None:
            return FilledBatch(0, 0, self._note_refused(space_id, awaiting), new.reports)
        put = _put_of(awaiting, new.block, self.holder, leave_others)
        stored = await self.store.put_vectors(workspace.slug, put, timeout=_WRITE_TIMEOUT_S)
        chosen = set(put.passages)
        refused = self._note_refused(space_id, [one for one in awaiting if one not in chosen])
        return FilledBatch(stored.stored_count, stored.outdated_count, refused, new.reports)


def cut_again(awaiting: AwaitingPassage) -> CutPassage:
    """Returns a stored passage as it was when it was cut, without its place in the document."""
    text = embedded_text_again(awaiting.passage, awaiting.document_title)
    # A fingerprint of our own: one that somebody else stored may stand for several texts.
    passage = replace(awaiting.passage, embedded_text_hash=embedded_text_hash(text))
    return CutPassage(passage, text, 0, 0, title=awaiting.document_title)


def _put_of(
    awaiting: Sequence[AwaitingPassage], block: VectorBlock, holder: str, leave_others: bool
) -> PassageVectorsPut:
    positions = block.passage_positions
    chosen = awaiting if positions is None else [awaiting[at] for at in positions]
    left = {space_id for one in chosen for space_id in one.space_ids} if leave_others else set()
    return PassageVectorsPut(
        tuple(chosen),
        replace(block, passage_positions=None),
        holder,
        tuple(sorted(left - {block.space_id})),
    )
