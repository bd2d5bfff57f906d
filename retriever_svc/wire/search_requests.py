"""Search requests."""

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import search_pb2
from retriever_svc.searches import QueryVariant, SearchMode, SearchRequest
from retriever_svc.wire.field_checks import checked_count, checked_text, checked_weight
from retriever_svc.wire.filters import filter_from
from retriever_svc.wire.float_blocks import vector_from
from retriever_svc.wire.fusion_settings import fusion_choices_from
from retriever_svc.wire.metadata import metadata_from
from retriever_svc.wire.thresholds import threshold_from

_MAX_VARIANTS = 8
_MAX_QUERY_BYTES = 8 * 1024
_MAX_CANDIDATES = 200
_DEFAULT_CANDIDATES = 20
_MAX_LIMIT = 400
_MAX_OFFSET = 10_000
_MODES = {
    search_pb2.SEARCH_MODE_UNSPECIFIED: SearchMode.HYBRID,
    search_pb2.SEARCH_MODE_HYBRID: SearchMode.HYBRID,
    search_pb2.SEARCH_MODE_DENSE: SearchMode.DENSE,
    search_pb2.SEARCH_MODE_LEXICAL: SearchMode.LEXICAL,
}


def search_request_from(message: search_pb2.SearchPassagesRequest) -> SearchRequest:
    """Returns the request. Raises InvalidArgument."""
    if message.mode not in _MODES:
        raise InvalidArgument(f"mode {message.mode} is not known", field="mode")
    checked_count(len(message.variants), "variants", low=1, high=_MAX_VARIANTS)
    candidates = checked_count(
        message.candidate_count, "candidate_count", low=0, high=_MAX_CANDIDATES
    )
    limit = checked_count(message.limit, "limit", low=0, high=_MAX_LIMIT)
    bound = checked_count(
        message.passages_per_document, "passages_per_document", low=0, high=2**31 - 1
    )
    return SearchRequest(
        workspace=message.workspace,
        variants=tuple(
            _variant_from(variant, f"variants[{index}]")
            for index, variant in enumerate(message.variants)
        ),
        mode=_MODES[message.mode],
        candidate_count=candidates or _DEFAULT_CANDIDATES,
        limit=limit or None,
        spaces_version=message.spaces_version if message.HasField("spaces_version") else None,
        filter=filter_from(message.filter, "filter") if message.HasField("filter") else None,
        thresholds=tuple(
            threshold_from(threshold, f"thresholds[{index}]")
            for index, threshold in enumerate(message.thresholds)
        ),
        context=metadata_from(message.context, "context"),
        fusion=fusion_choices_from(message),
        passages_per_document=bound or None,
        offset=checked_count(message.offset, "offset", low=0, high=_MAX_OFFSET),
        group_by_document=message.group_by_document,
        highlight=message.highlight,
    )


def _variant_from(message: search_pb2.QueryVariant, place: str) -> QueryVariant:
    vectors = {}
    for index, given in enumerate(message.vectors):
        field = f"{place}.vectors[{index}]"
        if not given.space_id or given.space_id in vectors:
            raise InvalidArgument(
                f"{field}.space_id is {given.space_id!r}; expected a space, and each only once",
                field=f"{field}.space_id",
            )
        vectors[given.space_id] = vector_from(given.vector, f"{field}.vector")
    return QueryVariant(
        checked_text(message.text, f"{place}.text", max_bytes=_MAX_QUERY_BYTES),
        _weight(message.weight, f"{place}.weight", is_set=message.HasField("weight")),
        vectors,
        checked_weight(message.lexical_weight, f"{place}.lexical_weight")
        if message.HasField("lexical_weight")
        else None,
    )


def _weight(given: float, field: str, *, is_set: bool) -> float:
    return checked_weight(given, field) if is_set else 1.0
