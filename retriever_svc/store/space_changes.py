"""Changes of a workspace's spaces: vectors for stored passages, another preferred space, a drop."""

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound
from retriever_svc.spaces import SpaceRemoval, SpaceSwitch, VectorsPutReceipt, VectorsPutRequest
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.store.tables import StoreTables
from retriever_svc.store.vector_writing import VectorWriter
from retriever_svc.unit_vectors import checked_vectors


def put_vectors(
    tables: StoreTables, request: VectorsPutRequest
) -> tuple[VectorsPutReceipt, DocumentChange]:
    """Stores the vectors of those passages that are still as the request names them.

    Raises NotFound (workspace), InvalidArgument and FailedPrecondition (another model).
    """
    workspace = tables.find_workspace(request.workspace)
    given = checked_vectors(request.vectors, len(request.passages))
    ids = [key.passage_id for key in request.passages]
    if len(given.positions) != len(ids) or len(set(ids)) < len(ids):
        raise InvalidArgument(
            f"{len(given.positions)} vectors came for {len(ids)} passages, {len(set(ids))} of them "
            "different; send one vector for each passage, and each passage once",
            field="passages",
        )
    rows = tables.read_passages(workspace.id, ids)
    fitting = {
        row: key.passage_id
        for row, key in enumerate(request.passages)
        if key.passage_id in rows
        and rows[key.passage_id].passage.embedded_text_hash == key.embedded_text_hash
    }
    outdated = len(ids) - len(fitting)
    if not fitting:
        return VectorsPutReceipt(0, outdated, workspace.seq), DocumentChange(workspace)
    seq = workspace.seq + 1
    held = tables.spaces_of_passages(workspace.id, ids)
    writer = VectorWriter(tables, workspace, seq, held)
    space = writer.ledger.enter(given.space_id, given.dimension, given.canary)
    for row, passage_id in fitting.items():
        writer.put_row(passage_id, space.key, given, row)
        for space_id in request.left_space_ids:
            left = writer.ledger.known(space_id)
            if left is not None and left.key != space.key:
                writer.drop(passage_id, left.key)
    after = _settled(tables, workspace, writer)
    change = DocumentChange(after, lost=writer.lost(), put=writer.put(), erasing=writer.erased)
    return VectorsPutReceipt(len(fitting), outdated, seq), change


def switch_space(
    tables: StoreTables, slug: str, space_id: str, *, require_complete: bool
) -> tuple[SpaceSwitch, DocumentChange]:
    """Makes a space the preferred one. Raises NotFound and FailedPrecondition (incomplete)."""
    workspace = tables.find_workspace(slug)
    space = workspace.space(space_id)
    if space is None:
        held = ", ".join(repr(known.space_id) for known in workspace.spaces)
        raise NotFound(
            f"workspace {slug!r} holds no space {space_id!r}; it holds {held or 'none'}",
            reason="SPACE_NOT_FOUND",
        )
    awaiting = workspace.passage_count - space.passage_count
    if require_complete and awaiting:
        raise FailedPrecondition(
            f"space {space_id!r} lacks {awaiting} of {workspace.passage_count} passages",
            reason="SPACE_INCOMPLETE",
        )
    previous = workspace.preferred_space_id
    after = workspace
    if previous != space_id:
        writer = VectorWriter(tables, workspace, workspace.seq + 1, {})
        after = _settled(tables, workspace, writer, switch_to=space_id)
    return SpaceSwitch(previous, after.spaces_version, awaiting), DocumentChange(after)


def drop_space_part(
    tables: StoreTables,
    slug: str,
    space_id: str,
    row_limit: int,
    *,
    leave_waiting: bool = False,
) -> tuple[SpaceRemoval, DocumentChange]:
    """Deletes up to `row_limit` vectors of a space that rests; none where it is not there.

    With `leave_waiting`, passages that the preferred space lacks lose theirs too. Raises NotFound
    (workspace), and FailedPrecondition for a space that searches need.
    """
    workspace = tables.find_workspace(slug)
    space = workspace.space(space_id)
    if space is None:
        return SpaceRemoval(0, workspace.spaces_version), DocumentChange(workspace)
    if space_id == workspace.preferred_space_id:
        raise FailedPrecondition(
            f"space {space_id!r} is the preferred one of workspace {slug!r}; "
            "switch to another space before you drop it",
            reason="SPACE_PREFERRED",
        )
    if space.stray_count and not leave_waiting:
        count = space.stray_count
        raise FailedPrecondition(
            f"space {space_id!r} holds {count} {'passage' if count == 1 else 'passages'} that the "
            "preferred space lacks; wait until they were moved there, or, where its model refuses "
            "them, leave them waiting (leave_waiting): words alone find them then",
            reason="SPACE_NEEDED",
        )
    ids = tables.passages_of_space(workspace.id, space.key, row_limit)
    held = tables.spaces_of_passages(workspace.id, ids)
    writer = VectorWriter(tables, workspace, workspace.seq + 1, held)
    for passage_id in ids:
        writer.drop(passage_id, space.key)
    after = _settled(tables, workspace, writer)
    change = DocumentChange(after, lost=writer.lost(), erasing=writer.erased)
    return SpaceRemoval(len(ids), after.spaces_version), change


def _settled(
    tables: StoreTables,
    workspace: WorkspaceRow,
    writer: VectorWriter,
    switch_to: str = "",
) -> WorkspaceRow:
    preferred, spaces_version = writer.ledger.settle(switch_to)
    tables.update_workspace(
        workspace.id,
        seq=workspace.seq + 1,
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        preferred_space_id=preferred,
        spaces_version=spaces_version,
    )
    return tables.read_workspace(workspace.id)
