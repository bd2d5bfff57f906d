"""The collections of one store's workspaces: their names, and what is written into them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from retriever_svc.lexical_terms import language_of, languages_of, passage_terms
from retriever_svc.milvus.clients.milvus_connection import MilvusConnection
from retriever_svc.milvus.collections.collection_shape import (
    VECTOR_FIELD,
    TermsShape,
    VectorsShape,
    terms_field,
)
from retriever_svc.milvus.collections.condition_fields import entry_of, in_space
from retriever_svc.milvus.collections.term_tokens import token_text
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.store.rows import DocumentRow, LexicalEntry, PassageRow, SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import LITTLE_ENDIAN
from retriever_svc.workspaces import DenseIndexKind

_IDENTITY_LENGTH = 12


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """Holds what is indexed of one passage: itself, its document, and its vectors by space."""

    row: PassageRow
    document: DocumentRow
    vectors: Mapping[int, bytes]


class WorkspaceCollections:
    """Writes collections; their names are those of one store, whoever else uses Milvus."""

    def __init__(
        self, connection: MilvusConnection, identity: str, settings: MilvusSettings
    ) -> None:
        self._connection = connection
        self._prefix = f"justesse_{identity[:_IDENTITY_LENGTH]}"
        self._settings = settings

    def terms_name(self, workspace_id: int) -> str:
        """Names the collection of a workspace's terms."""
        return f"{self._prefix}_w{workspace_id}"

    def vectors_name(self, space_key: int) -> str:
        """Names the collection of a space's vectors."""
        return f"{self._prefix}_s{space_key}"

    def prepare(self, workspace: WorkspaceRow) -> None:
        """Makes sure that all collections of a workspace are there and can be searched."""
        self._connection.prepare(self.terms_name(workspace.id), TermsShape())
        for space in workspace.spaces:
            shape = VectorsShape(
                space.dimension,
                workspace.settings.dense_index_kind is DenseIndexKind.FLAT,
                self._settings.neighbour_count,
                self._settings.construction_breadth,
            )
            self._connection.prepare(self.vectors_name(space.key), shape)

    def lacks_some(self, workspace: WorkspaceRow) -> bool:
        """Whether a collection of the workspace is not there."""
        names = [self.terms_name(workspace.id)]
        names += [self.vectors_name(space.key) for space in workspace.spaces]
        return not all(map(self._connection.exists, names))

    def drop(self, workspace_id: int, space_keys: Collection[int]) -> None:
        """Drops all collections of a workspace."""
        self._connection.drop(self.terms_name(workspace_id))
        self.drop_spaces(space_keys)

    def drop_spaces(self, space_keys: Collection[int]) -> None:
        """Drops the collections of spaces."""
        for space_key in space_keys:
            self._connection.drop(self.vectors_name(space_key))

    def write(
        self,
        workspace: WorkspaceRow,
        passages: Sequence[IndexedPassage],
        gone: Collection[int],
    ) -> None:
        """Makes the collections hold what the passages are now, and nothing of those gone."""
        terms = self.terms_name(workspace.id)
        if passages:
            languages = languages_of(workspace.settings.language)
            self._connection.upsert(terms, [_terms_entry(one, languages) for one in passages])
        if gone:
            self._connection.delete(terms, gone)
        for space in workspace.spaces:
            self._write_space(space, passages, gone)

    def _write_space(
        self, space: SpaceRow, passages: Sequence[IndexedPassage], gone: Collection[int]
    ) -> None:
        name = self.vectors_name(space.key)
        held = [one for one in passages if space.key in one.vectors]
        if held:
            self._connection.upsert(
                name,
                [
                    {
                        **entry_of(one.row.id, one.document.document, []),
                        VECTOR_FIELD: np.frombuffer(one.vectors[space.key], LITTLE_ENDIAN),
                    }
                    for one in held
                ],
            )
        lost = [*gone, *(one.row.id for one in passages if space.key not in one.vectors)]
        if lost:
            self._connection.delete(name, lost)


def lexical_entry(row: PassageRow, document: DocumentRow) -> LexicalEntry:
    """Returns what BM25 takes of a passage."""
    return LexicalEntry(
        row.id,
        document.document.language,
        document.document.title,
        row.passage.heading_path,
        document.document.keywords,
        row.passage.text,
    )


def _terms_entry(one: IndexedPassage, languages: tuple[str, ...]) -> dict[str, object]:
    entry = lexical_entry(one.row, one.document)
    language = language_of(entry, languages)
    return {
        **entry_of(one.row.id, one.document.document, [in_space(key) for key in one.vectors]),
        **{
            terms_field(part): token_text(terms, language)
            for part, terms in passage_terms(entry, language).items()
        },
    }
