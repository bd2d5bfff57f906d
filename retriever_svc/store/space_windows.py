"""Windows that arrive for passages whose vector is stored already."""

from chassis.errors import InvalidArgument
from retriever_svc.spaces import VectorsPutReceipt, WindowsPutRequest
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import encoded
from retriever_svc.store.tables import StoreTables
from retriever_svc.unit_vectors import checked_windows


def put_windows(
    tables: StoreTables, request: WindowsPutRequest
) -> tuple[VectorsPutReceipt, DocumentChange]:
    """Stores the windows of those passages that are still as the request names them.

    Raises NotFound (workspace) and InvalidArgument.
    """
    workspace = tables.find_workspace(request.workspace)
    ids = [key.passage_id for key in request.passages]
    if len(set(ids)) < len(ids):
        raise InvalidArgument(
            f"{len(ids)} passages are named, {len(set(ids))} of them different; send each once",
            field="passages",
        )
    width = request.window_vectors.shape[1]
    windows = checked_windows(
        request.window_counts,
        request.window_vectors,
        [f"passage {one}" for one in ids],
        (len(ids), width),
        request.space_id,
    )
    space = workspace.space(request.space_id)
    fitting = _fitting(tables, workspace, space, request)
    outdated = len(ids) - len(fitting)
    if space is None or not fitting:
        return VectorsPutReceipt(0, outdated, workspace.seq), DocumentChange(workspace)
    if width != space.dimension:
        raise InvalidArgument(
            f"space {request.space_id!r} holds vectors of {space.dimension} values, these windows "
            f"have {width}",
            field="dimension",
            reason="DIMENSION_MISMATCH",
        )
    erased = False
    for key, rows in zip(request.passages, windows, strict=True):
        if key.passage_id in fitting and rows is not None:
            erased |= tables.replace_windows(
                workspace.id, key.passage_id, space.key, len(rows), encoded(rows)
            )
    tables.update_workspace(
        workspace.id,
        seq=workspace.seq + 1,
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        preferred_space_id=workspace.preferred_space_id,
        spaces_version=workspace.spaces_version,
    )
    after = tables.read_workspace(workspace.id)
    receipt = VectorsPutReceipt(len(fitting), outdated, after.seq)
    return receipt, DocumentChange(after, erasing=erased)


def _fitting(
    tables: StoreTables,
    workspace: WorkspaceRow,
    space: SpaceRow | None,
    request: WindowsPutRequest,
) -> set[int]:
    if space is None:
        return set()
    ids = [key.passage_id for key in request.passages]
    rows = tables.read_passages(workspace.id, ids)
    held = tables.spaces_of_passages(workspace.id, ids)
    return {
        key.passage_id
        for key in request.passages
        if key.passage_id in rows
        and rows[key.passage_id].passage.embedded_text_hash == key.embedded_text_hash
        and space.key in held.get(key.passage_id, ())
    }
