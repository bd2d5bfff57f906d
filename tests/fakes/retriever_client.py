"""A caller of the retriever's services, in as few words as possible."""

from collections.abc import Iterator, Sequence

import grpc.aio
import numpy as np

from justesse.retriever.v1 import (
    documents_pb2,
    documents_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
    spaces_pb2_grpc,
    workspaces_pb2_grpc,
)

SPACE = "test/model@1/3/l2/none"


class RetrieverClient:
    """The stubs of a running retriever."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.workspaces = workspaces_pb2_grpc.WorkspaceServiceStub(channel)
        self.documents = documents_pb2_grpc.DocumentServiceStub(channel)
        self.search = search_pb2_grpc.SearchServiceStub(channel)
        self.spaces = spaces_pb2_grpc.SpaceServiceStub(channel)

    async def put(
        self,
        external_id: str,
        texts: Sequence[str],
        rows: Sequence[Sequence[float]] = (),
        workspace: str = "docs",
        **facts: object,
    ) -> documents_pb2.UpsertDocumentResponse:
        """Stores a document with these facts, a passage a message."""
        document = documents_pb2.Document(external_id=external_id, **facts)  # type: ignore[arg-type]
        return await self.documents.UpsertDocument(_upload(document, texts, rows, workspace))

    async def find(
        self, text: str, values: Sequence[float] = (), **fields: object
    ) -> search_pb2.SearchPassagesResponse:
        """Searches one wording."""
        vectors = [search_pb2.QueryVector(space_id=SPACE, vector=_bytes(values))] if values else []
        given = {
            "workspace": "docs",
            "variants": [search_pb2.QueryVariant(text=text, vectors=vectors)],
            **fields,
        }
        return await self.search.SearchPassages(
            search_pb2.SearchPassagesRequest(**given)  # type: ignore[arg-type]
        )


def _bytes(values: Sequence[float]) -> bytes:
    return np.array(values, "<f4").tobytes()


def _upload(
    document: documents_pb2.Document,
    texts: Sequence[str],
    rows: Sequence[Sequence[float]],
    workspace: str,
) -> Iterator[documents_pb2.UpsertDocumentRequest]:
    yield documents_pb2.UpsertDocumentRequest(
        header=documents_pb2.DocumentHeader(workspace=workspace, document=document)
    )
    for index, text in enumerate(texts):
        block = (
            [
                documents_pb2.VectorBlock(
                    space_id=SPACE, dimension=len(rows[index]), vectors=_bytes(rows[index])
                )
            ]
            if rows
            else []
        )
        yield documents_pb2.UpsertDocumentRequest(
            passages=documents_pb2.PassageBatch(
                passages=[documents_pb2.Passage(chunk_index=index, text=text)], vectors=block
            )
        )
