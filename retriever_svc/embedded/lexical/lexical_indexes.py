"""The BM25 indexes of all workspaces; used by the writer thread alone."""

from collections import OrderedDict
from collections.abc import Collection

from retriever_svc.embedded.data_folder import DataFolder
from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.store.rows import WorkspaceRow


class LexicalIndexes:
    """Opens indexes by workspace and keeps the writers of a few of them open."""

    def __init__(self, folder: DataFolder, store_identity: str, settings: LexicalSettings) -> None:
        self._folder = folder
        self._store_identity = store_identity
        self._settings = settings
        # The one used last is the last.
        self._indexes: OrderedDict[int, LexicalIndex] = OrderedDict()

    def use(self, workspace: WorkspaceRow) -> LexicalIndex:
        """Returns the index of a workspace, opened or created where needed."""
        index = self._indexes.get(workspace.id)
        if index is None:
            index = LexicalIndex(
                self._folder.workspace_path(workspace.id) / "lexical",
                store_identity=self._store_identity,
                workspace_id=workspace.id,
                language=workspace.settings.language,
                settings=self._settings,
            )
            self._indexes[workspace.id] = index
        self._indexes.move_to_end(workspace.id)
        return index

    def rest_unused(self) -> None:
        """Closes the writers that exceed the limit, those used least recently first."""
        with_writer = [index for index in self._indexes.values() if index.writer_open]
        for index in with_writer[: max(0, len(with_writer) - self._settings.open_writer_limit)]:
            index.rest()

    def remove(self, workspace_id: int) -> None:
        """Closes the index of a deleted workspace and removes its files."""
        index = self._indexes.pop(workspace_id, None)
        if index is not None:
            index.rest()
        self._folder.remove_workspace(workspace_id)

    def sweep(self, living: Collection[int]) -> None:
        """Removes what a process that died has left of deleted workspaces."""
        for workspace_id in self._folder.workspace_ids():
            if workspace_id not in living:
                self.remove(workspace_id)

    def seq_of(self, workspace_id: int) -> int:
        """Returns the number of the last change that the index has on disk; 0 if not known."""
        index = self._indexes.get(workspace_id)
        return 0 if index is None else index.seq

    def close(self) -> None:
        """Closes all writers."""
        for index in self._indexes.values():
            index.rest()
