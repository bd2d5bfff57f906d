"""Spaces: leases, what they lack, vectors for them, switches and drops."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import spaces_pb2
from retriever_svc.spaces import (
    AwaitingPage,
    PassageKey,
    SpaceLease,
    VectorsPutReceipt,
    VectorsPutRequest,
    WindowsPutRequest,
)
from retriever_svc.unit_vectors import MAX_DIMENSION
from retriever_svc.wire.documents import passage_message
from retriever_svc.wire.field_checks import checked_count, checked_length, checked_text
from retriever_svc.wire.float_blocks import matrix_from
from retriever_svc.wire.page_tokens import after_from, token_from
from retriever_svc.wire.vector_blocks import VectorAssembly

_PASSAGE_ID = re.compile(r"[0-9]{1,18}")
_DEFAULT_PAGE_SIZE = 100
_MAX_PAGE_SIZE = 500
_MAX_PASSAGES = 1_000
_MAX_LEASE_S = 600.0
_MAX_HOLDER_LENGTH = 128
_MAX_SPACE_ID_BYTES = 256


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """Asks for the work on a space for `duration_s` seconds; 0 gives it back."""

    workspace: str
    space_id: str
    holder: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class AwaitingRequest:
    """Asks for a page of what a space lacks; `after` is None for the first."""

    workspace: str
    space_id: str
    windows: bool
    page_size: int
    after: int | None


def lease_request_from(message: spaces_pb2.LeaseSpaceRequest) -> LeaseRequest:
    """Returns the request. Raises InvalidArgument."""
    if not message.holder:
        raise InvalidArgument("holder is empty; name who does the work", field="holder")
    checked_length(message.holder, "holder", max_length=_MAX_HOLDER_LENGTH)
    if not (math.isfinite(message.duration_s) and 0 <= message.duration_s <= _MAX_LEASE_S):
        raise InvalidArgument(
            f"duration_s is {message.duration_s}; expected 0 to {_MAX_LEASE_S:g}",
            field="duration_s",
        )
    return LeaseRequest(
        message.workspace, space_id_from(message.space_id), message.holder, message.duration_s
    )


def lease_response(lease: SpaceLease) -> spaces_pb2.LeaseSpaceResponse:
    """Returns the message of a lease."""
    return spaces_pb2.LeaseSpaceResponse(granted=lease.granted, remaining_s=lease.remaining_s)


def awaiting_request_from(message: spaces_pb2.ListPassagesAwaitingRequest) -> AwaitingRequest:
    """Returns the request. Raises InvalidArgument."""
    size = checked_count(message.page_size, "page_size", low=0, high=_MAX_PAGE_SIZE)
    after = after_from(message.page_token, "page_token")
    return AwaitingRequest(
        message.workspace,
        space_id_from(message.space_id),
        message.windows,
        size or _DEFAULT_PAGE_SIZE,
        None if after is None else passage_id_from(after, "page_token"),
    )


def awaiting_response(page: AwaitingPage) -> spaces_pb2.ListPassagesAwaitingResponse:
    """Returns the message of a page."""
    return spaces_pb2.ListPassagesAwaitingResponse(
        passages=[
            spaces_pb2.AwaitingPassage(
                passage_id=str(awaiting.passage_id),
                passage=passage_message(awaiting.passage),
                document_title=awaiting.document_title,
                space_ids=awaiting.space_ids,
            )
            for awaiting in page.passages
        ],
        next_page_token=token_from(None if page.next_after is None else str(page.next_after)),
        awaiting_passage_count=page.awaiting_count,
        awaiting_token_estimate=page.awaiting_token_estimate,
    )


def put_request_from(message: spaces_pb2.PutVectorsRequest) -> VectorsPutRequest:
    """Returns the request. Raises InvalidArgument."""
    count = checked_count(len(message.passages), "passages", low=1, high=_MAX_PASSAGES)
    space_id_from(message.vectors.space_id, "vectors.space_id")
    assembly = VectorAssembly()
    assembly.add([message.vectors], 0, count, "request")
    (vectors,) = assembly.joined()
    if not np.array_equal(vectors.positions, np.arange(count)):
        raise InvalidArgument(
            "vectors.passage_positions must stay empty: row i belongs to passages[i]",
            field="vectors.passage_positions",
        )
    return VectorsPutRequest(
        workspace=message.workspace,
        passages=_keys_from(message.passages),
        vectors=vectors,
        lease_holder=message.lease_holder,
        left_space_ids=tuple(message.left_space_ids),
    )


def windows_request_from(message: spaces_pb2.PutWindowsRequest) -> WindowsPutRequest:
    """Returns the request. Raises InvalidArgument."""
    checked_count(len(message.passages), "passages", low=1, high=_MAX_PASSAGES)
    dimension = checked_count(message.dimension, "dimension", low=1, high=MAX_DIMENSION)
    for index, count in enumerate(message.window_counts):
        checked_count(count, f"window_counts[{index}]", low=0, high=len(message.window_vectors))
    return WindowsPutRequest(
        workspace=message.workspace,
        space_id=space_id_from(message.space_id),
        passages=_keys_from(message.passages),
        window_counts=np.array(message.window_counts, np.int64),
        window_vectors=matrix_from(message.window_vectors, dimension, "window_vectors"),
        lease_holder=message.lease_holder,
    )


def put_response(receipt: VectorsPutReceipt) -> spaces_pb2.PutVectorsResponse:
    """Returns the message of a receipt."""
    return spaces_pb2.PutVectorsResponse(
        stored_count=receipt.stored_count, outdated_count=receipt.outdated_count, seq=receipt.seq
    )


def space_id_from(value: str, field: str = "space_id") -> str:
    """Returns the id of a space. Raises InvalidArgument."""
    return checked_text(value, field, max_bytes=_MAX_SPACE_ID_BYTES)


def _keys_from(messages: Iterable[spaces_pb2.PassageKey]) -> tuple[PassageKey, ...]:
    return tuple(
        PassageKey(
            passage_id_from(key.passage_id, f"passages[{index}].passage_id"),
            key.embedded_text_hash,
        )
        for index, key in enumerate(messages)
    )


def passage_id_from(value: str, field: str) -> int:
    """Returns the internal id of a passage. Raises InvalidArgument."""
    if not _PASSAGE_ID.fullmatch(value):
        raise InvalidArgument(
            f"{field} was not given by this service; send ids as they were received", field=field
        )
    return int(value)
