"""Blocks that passages were cut from."""

from collections.abc import Sequence

from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import Parent
from retriever_svc.wire.field_checks import checked_count
from retriever_svc.wire.spaces import passage_id_from

_MAX_PASSAGES = 100


def parent_ids_from(message: documents_pb2.ReadParentsRequest) -> list[int]:
    """Returns the internal ids of the passages. Raises InvalidArgument."""
    checked_count(len(message.passage_ids), "passage_ids", low=1, high=_MAX_PASSAGES)
    return [
        passage_id_from(value, f"passage_ids[{index}]")
        for index, value in enumerate(message.passage_ids)
    ]


def parents_response(parents: Sequence[Parent]) -> documents_pb2.ReadParentsResponse:
    """Returns the message of blocks."""
    return documents_pb2.ReadParentsResponse(
        parents=[
            documents_pb2.Parent(
                passage_id=str(parent.passage_id),
                text=parent.text,
                first_chunk_index=parent.first_chunk_index,
                passage_count=parent.passage_count,
            )
            for parent in parents
        ]
    )
