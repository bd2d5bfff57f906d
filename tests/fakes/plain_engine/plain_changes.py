"""Changes of a plain workspace. The caller gives a copy, and drops it where one of them raises."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound
from retriever_svc.documents import (
    DocumentRemoval,
    DocumentUpsert,
    Passage,
    UpsertOutcome,
    UpsertReceipt,
)
from retriever_svc.spaces import (
    PassageKey,
    SpaceRemoval,
    SpaceSwitch,
    VectorsPutReceipt,
    VectorsPutRequest,
    WindowsPutRequest,
)
from retriever_svc.unit_vectors import UnitVectors, checked_vectors, checked_windows, same_model
from tests.fakes.plain_engine.plain_workspace import (
    PlainDocument,
    PlainPassage,
    PlainSpace,
    PlainVector,
    PlainWorkspace,
)


class PlainChange:
    """One change, counted once, that keeps the list of spaces true."""

    def __init__(self, workspace: PlainWorkspace, new_id: Callable[[], int]) -> None:
        self.workspace = workspace
        self._new_id = new_id
        self._before = self._listed()

    def upsert(self, upsert: DocumentUpsert, now: datetime) -> UpsertReceipt:
        """Stores a document in place of its older state."""
        vectors = [checked_vectors(given, len(upsert.passages)) for given in upsert.vectors]
        if len({given.space_id for given in vectors}) < len(vectors):
            raise InvalidArgument("vectors name a space twice", field="passages.vectors")
        stored = self.workspace.documents.get(upsert.document.external_id)
        wanted = upsert.document.content_hash
        if stored is not None and wanted and stored.document.content_hash == wanted:
            return self._complete(upsert, vectors)
        return self._replace(upsert, vectors, now)

    def delete(self, external_id: str) -> DocumentRemoval:
        """Deletes a document, where there is one."""
        workspace = self.workspace
        if external_id not in workspace.documents:
            return DocumentRemoval(deleted=False, passage_count=0, seq=workspace.seq)
        gone = workspace.documents.pop(external_id).passage_ids
        for passage_id in gone:
            del workspace.passages[passage_id]
        self._settle()
        return DocumentRemoval(deleted=True, passage_count=len(gone), seq=workspace.seq)

    def put_vectors(self, request: VectorsPutRequest) -> VectorsPutReceipt:
        """Stores vectors of passages that are still as the request names them."""
        given = checked_vectors(request.vectors, len(request.passages))
        ids = {key.passage_id for key in request.passages}
        if not len(given.positions) == len(request.passages) == len(ids):
            raise InvalidArgument("send one vector a passage, and each passage once")
        fitting = self._fitting(request.passages)
        for row, passage in fitting.items():
            self._put(passage, given, row)
            for space_id in request.left_space_ids:
                if space_id != given.space_id:
                    passage.vectors.pop(space_id, None)
        if fitting:
            self._settle()
        outdated = len(ids) - len(fitting)
        return VectorsPutReceipt(len(fitting), outdated, self.workspace.seq)

    def put_windows(self, request: WindowsPutRequest) -> VectorsPutReceipt:
        """Stores windows of passages that have a vector in the space."""
        ids = {key.passage_id for key in request.passages}
        if len(ids) < len(request.passages):
            raise InvalidArgument("send each passage once", field="passages")
        width = request.window_vectors.shape[1]
        names = [f"passage {key.passage_id}" for key in request.passages]
        windows = checked_windows(
            request.window_counts,
            request.window_vectors,
            names,
            (len(ids), width),
            request.space_id,
        )
        fitting = {
            row: passage
            for row, passage in self._fitting(request.passages).items()
            if request.space_id in passage.vectors
        }
        if fitting and width != self.workspace.spaces[request.space_id].dimension:
            raise InvalidArgument("windows of another width", reason="DIMENSION_MISMATCH")
        for row, passage in fitting.items():
            if windows[row] is not None:
                passage.vectors[request.space_id].windows = windows[row]
        if fitting:
            self._settle()
        return VectorsPutReceipt(len(fitting), len(ids) - len(fitting), self.workspace.seq)

    def switch(self, space_id: str, *, require_complete: bool) -> SpaceSwitch:
        """Makes a space the preferred one."""
        workspace = self.workspace
        if space_id not in workspace.spaces:
            raise NotFound(f"no space {space_id!r}", reason="SPACE_NOT_FOUND")
        total = len(workspace.passages)
        awaiting = total - len(workspace.holders(space_id))
        if require_complete and awaiting:
            raise FailedPrecondition(
                f"space {space_id!r} lacks {awaiting} of {total} passages",
                reason="SPACE_INCOMPLETE",
            )
        previous = workspace.preferred_space_id
        if previous != space_id:
            workspace.preferred_space_id = space_id
            self._settle()
        return SpaceSwitch(previous, workspace.spaces_version, awaiting)

    def drop(self, space_id: str, *, leave_waiting: bool) -> SpaceRemoval:
        """Deletes the vectors of a space that rests."""
        workspace = self.workspace
        if space_id not in workspace.spaces:
            return SpaceRemoval(0, workspace.spaces_version)
        if space_id == workspace.preferred_space_id:
            raise FailedPrecondition("the space is preferred", reason="SPACE_PREFERRED")
        if workspace.strays(space_id) and not leave_waiting:
            raise FailedPrecondition("searches need the space", reason="SPACE_NEEDED")
        held = workspace.holders(space_id)
        for passage_id in held:
            del workspace.passages[passage_id].vectors[space_id]
        self._settle()
        return SpaceRemoval(len(held), workspace.spaces_version)

    def _complete(self, upsert: DocumentUpsert, vectors: list[UnitVectors]) -> UpsertReceipt:
        stored = self.workspace.passages_of(upsert.document.external_id)
        kept = sum(bool(one.vectors) for one in stored)
        changed = False
        for given in vectors:
            for row, position in enumerate(given.positions.tolist()):
                if position >= len(stored):
                    continue
                old, new = stored[position].passage, upsert.passages[position]
                same = (old.text, old.embedded_text_hash) == (new.text, new.embedded_text_hash)
                if same and given.space_id not in stored[position].vectors:
                    self._put(stored[position], given, row)
                    changed = True
        if changed:
            self._settle()
        return UpsertReceipt(
            UpsertOutcome.REPLACED if changed else UpsertOutcome.UNCHANGED,
            len(stored),
            sum(not one.vectors for one in stored),
            kept,
            self.workspace.seq,
        )

    def _replace(
        self, upsert: DocumentUpsert, vectors: list[UnitVectors], now: datetime
    ) -> UpsertReceipt:
        workspace, external_id = self.workspace, upsert.document.external_id
        created = external_id not in workspace.documents
        old = [] if created else workspace.passages_of(external_id)
        for one in old:
            del workspace.passages[one.passage_id]
        new = self._matched(old, upsert.passages, external_id)
        inherited = [set(one.vectors) for one in new]
        for given in vectors:
            for row, position in enumerate(given.positions.tolist()):
                self._put(new[position], given, row)
                inherited[position].discard(given.space_id)
        workspace.documents[external_id] = PlainDocument(
            upsert.document, now, [one.passage_id for one in new]
        )
        workspace.passages |= {one.passage_id: one for one in new}
        workspace.passages = dict(sorted(workspace.passages.items()))
        self._settle()
        return UpsertReceipt(
            UpsertOutcome.CREATED if created else UpsertOutcome.REPLACED,
            len(new),
            sum(not one.vectors for one in new),
            sum(map(bool, inherited)),
            workspace.seq,
        )

    def _matched(
        self, old: list[PlainPassage], given: tuple[Passage, ...], external_id: str
    ) -> list[PlainPassage]:
        """Returns the new passages with ids of equal text, and vectors of equal embedded text."""
        living: dict[int, PlainPassage] = {}
        for alike in (_same_text_and_hash, _same_text):
            for position, passage in enumerate(given):
                used = {one.passage_id for one in living.values()}
                free = (o for o in old if o.passage_id not in used and alike(o.passage, passage))
                if position not in living and (match := next(free, None)) is not None:
                    living[position] = match
        new = []
        for position, passage in enumerate(given):
            own = living.get(position)
            wanted = passage.embedded_text_hash
            same = [o for o in old if wanted and o.passage.embedded_text_hash == wanted]
            source = own if own in same else next(iter(same), None)
            new.append(
                PlainPassage(
                    self._new_id() if own is None else own.passage_id,
                    external_id,
                    passage,
                    {}
                    if source is None
                    else {space_id: replace(held) for space_id, held in source.vectors.items()},
                )
            )
        return new

    def _fitting(self, keys: Iterable[PassageKey]) -> dict[int, PlainPassage]:
        found = {}
        for row, key in enumerate(keys):
            passage = self.workspace.passages.get(key.passage_id)
            if passage and passage.passage.embedded_text_hash == key.embedded_text_hash:
                found[row] = passage
        return found

    def _put(self, passage: PlainPassage, given: UnitVectors, row: int) -> None:
        space = self.workspace.spaces.setdefault(given.space_id, PlainSpace(given.dimension))
        if space.dimension != given.dimension:
            raise InvalidArgument(
                f"the space holds vectors of {space.dimension} values, these {given.dimension}",
                reason="DIMENSION_MISMATCH",
            )
        if given.canary and space.canary and not same_model(space.canary, given.canary):
            raise FailedPrecondition("the model is another one", reason="SPACE_DRIFTED")
        space.canary = space.canary or given.canary
        windows = given.windows[row] if given.windows else None
        sliced = row in given.sliced_rows
        passage.vectors[given.space_id] = PlainVector(np.copy(given.vectors[row]), windows, sliced)

    def _settle(self) -> None:
        workspace = self.workspace
        workspace.seq += 1
        for space_id in [one for one in workspace.spaces if not workspace.holders(one)]:
            del workspace.spaces[space_id]
        if not workspace.preferred_space_id:
            workspace.preferred_space_id = next(iter(workspace.spaces), "")
        workspace.spaces_version += self._listed() != self._before

    def _listed(self) -> tuple[str, set[tuple[str, bool]]]:
        spaces = {(space.space_id, space.resting) for space in self.workspace.described_spaces()}
        return self.workspace.preferred_space_id, spaces


def _same_text_and_hash(one: Passage, other: Passage) -> bool:
    return _same_text(one, other) and one.embedded_text_hash == other.embedded_text_hash


def _same_text(one: Passage, other: Passage) -> bool:
    return one.text == other.text
