"""Thresholds, read and checked."""

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import search_pb2
from retriever_svc.thresholds import DEFAULT_TERM_SHARE, Threshold
from retriever_svc.wire.composed_texts import composed
from retriever_svc.wire.filters import filter_from


def threshold_from(message: search_pb2.Threshold, place: str) -> Threshold:
    """Returns the threshold that stands at `place` of a request.

    Raises InvalidArgument where it names no score, a bound without a space, a space without a
    bound, or a bound that no score can have.
    """
    return Threshold(
        space_id=message.space_id,
        min_similarity=_min_similarity_from(message, place),
        min_term_share=_min_term_share_from(message, place),
        context_field=composed(message.context_field),
        context_differs=_context_differs_from(message, place),
        condition=(
            filter_from(message.condition, f"{place}.condition")
            if message.HasField("condition")
            else None
        ),
    )


def _min_similarity_from(message: search_pb2.Threshold, place: str) -> float | None:
    bound = message.WhichOneof("bound")
    if not message.space_id:
        if bound is not None:
            raise InvalidArgument(
                f"{place}.space_id is empty; name the space whose cosine is judged",
                field=f"{place}.space_id",
            )
        return None
    if bound is None:
        raise InvalidArgument(
            f"{place} names a space; it needs min_similarity or max_distance",
            field=f"{place}.bound",
        )
    given = message.min_similarity if bound == "min_similarity" else message.max_distance
    low, high = (-1, 1) if bound == "min_similarity" else (0, 2)
    if not low <= given <= high:
        raise InvalidArgument(
            f"{place}.{bound} is {given:g}; expected {low} to {high}", field=f"{place}.{bound}"
        )
    return given if bound == "min_similarity" else 1 - given


def _min_term_share_from(message: search_pb2.Threshold, place: str) -> float:
    if not message.HasField("min_term_share"):
        if not message.space_id:
            raise InvalidArgument(
                f"{place} names no score; give a space with a bound, or min_term_share",
                field=place,
            )
        return DEFAULT_TERM_SHARE
    if not 0 <= message.min_term_share <= 1:
        raise InvalidArgument(
            f"{place}.min_term_share is {message.min_term_share:g}; expected 0 to 1",
            field=f"{place}.min_term_share",
        )
    # The field is a float32: 0.3 must not become a little more.
    return round(message.min_term_share, 6)


def _context_differs_from(message: search_pb2.Threshold, place: str) -> bool:
    if message.context_differs and not message.context_field:
        raise InvalidArgument(
            f"{place}.context_differs compares nothing; name a context_field",
            field=f"{place}.context_field",
        )
    return message.context_differs
