"""Records as a workspace again: read one by one, and believed in nothing."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from google.protobuf.message import DecodeError

from chassis.errors import FailedPrecondition, InvalidArgument, ResourceExhausted
from justesse.retriever.v1 import documents_pb2, transfers_pb2, workspaces_pb2
from retriever_svc.documents import Document, DocumentUpsert, Passage
from retriever_svc.transfers.workspace_copy import CopiedSpace, WorkspaceHead
from retriever_svc.unit_vectors import MAX_DIMENSION
from retriever_svc.wire.documents import document_from, passage_from
from retriever_svc.wire.field_checks import checked_count
from retriever_svc.wire.float_blocks import vector_from
from retriever_svc.wire.transfers.record_digest import FORMAT_VERSION, RecordDigest
from retriever_svc.wire.uploads import UploadLimits
from retriever_svc.wire.vector_blocks import VectorAssembly
from retriever_svc.wire.workspaces import settings_from

_MAX_SPACES = 64


@dataclass(slots=True)
class _Gathered:
    """What has come of a document."""

    document: Document
    size: int
    passages: list[Passage] = field(default_factory=list)
    vectors: VectorAssembly = field(default_factory=VectorAssembly)
    vectors_began: bool = False


class ImportedRecords:
    """Reads a stream of records, once: its head, then its documents.

    Raises InvalidArgument for a record that is wrong, with its number, counted from 1.
    """

    def __init__(self, records: AsyncIterator[bytes], limits: UploadLimits) -> None:
        self._records = records
        self._limits = limits
        self._number = 0
        self._spaces: dict[str, CopiedSpace] = {}
        self._awaited_canaries: dict[str, CopiedSpace] = {}
        self._unseen: set[str] = set()
        self.digest = RecordDigest()
        """What has come so far."""

    async def head(self) -> WorkspaceHead:
        """Reads what the workspace has beside documents.

        Raises FailedPrecondition for a layout of a newer build.
        """
        record = await self._next()
        if record is None:
            raise self._damaged("the stream is empty")
        if record.WhichOneof("content") != "workspace":
            raise self._damaged("does not describe a workspace, as the first one must")
        given = record.workspace
        if given.format_version != FORMAT_VERSION:
            raise FailedPrecondition(
                f"the workspace comes in version {given.format_version} of the layout, and this "
                f"build reads version {FORMAT_VERSION}: import it with the build that wrote it, "
                "or a newer one",
                reason="ARCHIVE_TOO_NEW",
            )
        checked_count(len(given.spaces), f"{self._place}.spaces", low=0, high=_MAX_SPACES)
        spaces = tuple(self._space(space) for space in given.spaces)
        self._spaces = {space.space_id: space for space in spaces}
        if len(self._spaces) < len(spaces):
            raise self._damaged("names a space twice")
        preferred = given.preferred_space_id
        if preferred and preferred not in self._spaces:
            raise self._damaged(f"prefers space {preferred!r}, which it does not describe")
        self._unseen = set(self._spaces)
        self._awaited_canaries = {one.space_id: one for one in spaces if one.canary}
        settings = settings_from(workspaces_pb2.CreateWorkspaceRequest(settings=given.settings))
        return WorkspaceHead(settings, spaces, preferred)

    async def documents(self, workspace: str) -> AsyncIterator[tuple[DocumentUpsert, int]]:
        """Yields upserts into the workspace, each with the bytes of its records, to the end.

        Raises InvalidArgument also where the end is missing or does not fit what came before.
        """
        gathered: _Gathered | None = None
        while (record := await self._next()) is not None:
            match record.WhichOneof("content"):
                case "document":
                    if gathered is not None:
                        yield self._upsert(workspace, gathered)
                    document = document_from(record.document, f"{self._place}.document")
                    gathered = _Gathered(document, record.ByteSize())
                    self.digest.documents += 1
                case "passages" if gathered is not None:
                    self._grow(gathered, record.ByteSize())
                    self._add_passages(gathered, record.passages)
                case "vectors" if gathered is not None:
                    self._grow(gathered, record.ByteSize())
                    self._add_vectors(gathered, record.vectors)
                case "end":
                    if gathered is not None:
                        yield self._upsert(workspace, gathered)
                    await self._check_end(record.end)
                    return
                case content:
                    raise self._damaged(f"holds {content or 'nothing known'}, out of order")
        raise self._damaged("was the last one, and it is not the end: the stream was cut off")

    @property
    def _place(self) -> str:
        return f"record {self._number}"

    def _damaged(self, problem: str) -> InvalidArgument:
        return InvalidArgument(f"{self._place} {problem}", field="record", reason="ARCHIVE_DAMAGED")

    async def _next(self) -> transfers_pb2.TransferRecord | None:
        data = await anext(self._records, None)
        if data is None:
            return None
        self._number += 1
        try:
            record = transfers_pb2.TransferRecord.FromString(data)
        except DecodeError as error:
            raise self._damaged("cannot be read") from error
        if record.WhichOneof("content") != "end":
            self.digest.add(data)
        return record

    def _space(self, given: transfers_pb2.TransferredSpace) -> CopiedSpace:
        place = f"{self._place}.spaces[{given.space_id!r}]"
        if not given.space_id:
            raise self._damaged("describes a space without an id")
        checked_count(given.dimension, f"{place}.dimension", low=1, high=MAX_DIMENSION)
        if given.HasField("canary_vector"):
            vector_from(given.canary_vector, f"{place}.canary_vector")
        return CopiedSpace(given.space_id, given.dimension, given.canary_vector)

    def _grow(self, gathered: _Gathered, size: int) -> None:
        gathered.size += size
        if gathered.size > self._limits.max_bytes:
            raise ResourceExhausted(
                f"document {gathered.document.external_id!r} takes over {self._limits.max_bytes} "
                "bytes, more than this retriever takes; see MAX_DOCUMENT_BYTES",
                reason="DOCUMENT_TOO_LARGE",
            )

    def _add_passages(self, gathered: _Gathered, batch: documents_pb2.PassageBatch) -> None:
        if batch.vectors or gathered.vectors_began:
            raise self._damaged("mixes passages and vectors, which come one after the other")
        for index, message in enumerate(batch.passages):
            if message.chunk_index != len(gathered.passages):
                raise self._damaged(
                    f"holds passage {message.chunk_index} where passage {len(gathered.passages)} "
                    "was to come"
                )
            gathered.passages.append(passage_from(message, f"{self._place}.passages[{index}]"))
        self.digest.passages += len(batch.passages)
        if len(gathered.passages) > self._limits.max_passages:
            raise ResourceExhausted(
                f"document {gathered.document.external_id!r} has over {self._limits.max_passages} "
                "passages, more than this retriever takes; see MAX_PASSAGES_PER_DOCUMENT",
                reason="DOCUMENT_TOO_LARGE",
            )

    def _add_vectors(self, gathered: _Gathered, block: documents_pb2.VectorBlock) -> None:
        gathered.vectors_began = True
        space = self._spaces.get(block.space_id)
        if space is None or space.dimension != block.dimension:
            raise self._damaged(
                f"holds vectors of {block.dimension} values in space {block.space_id!r}, which the "
                "first record does not describe so"
            )
        gathered.vectors.add([block], 0, len(gathered.passages), self._place)
        self.digest.vectors += len(block.vectors) // (4 * block.dimension)
        self._unseen.discard(block.space_id)

    def _upsert(self, workspace: str, gathered: _Gathered) -> tuple[DocumentUpsert, int]:
        vectors = tuple(
            # Kept with the space by the first vectors that bring it.
            replace(given, canary=vector_from(space.canary, "canary_vector"))
            if (space := self._awaited_canaries.pop(given.space_id, None)) is not None
            else given
            for given in gathered.vectors.joined()
        )
        upsert = DocumentUpsert(workspace, gathered.document, tuple(gathered.passages), vectors)
        return upsert, gathered.size

    async def _check_end(self, end: transfers_pb2.TransferEnd) -> None:
        came = self.digest.end()
        if (came.document_count, came.passage_count, came.vector_count) != (
            end.document_count,
            end.passage_count,
            end.vector_count,
        ):
            raise self._damaged(
                f"ends {end.document_count} documents with {end.passage_count} passages and "
                f"{end.vector_count} vectors; {came.document_count} with {came.passage_count} and "
                f"{came.vector_count} have come"
            )
        if came.sha256 != end.sha256:
            raise self._damaged("has another checksum than what has come: something was altered")
        if self._unseen:
            raise self._damaged(f"ends without a vector in space {min(self._unseen)!r}")
        if await self._next() is not None:
            raise self._damaged("comes after the end")
