"""Searches and workspaces on the wire: defaults and refusals."""

import pytest

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import search_pb2, workspaces_pb2
from retriever_svc.filters import FieldExists
from retriever_svc.fusion_settings import FusionChoices
from retriever_svc.searches import SearchMode
from retriever_svc.thresholds import DEFAULT_TERM_SHARE
from retriever_svc.wire.search_requests import search_request_from
from retriever_svc.wire.workspaces import new_slug_from, settings_from, update_from
from retriever_svc.workspaces import ChunkingProfile, DenseIndexKind, WorkspaceLanguage


@pytest.mark.parametrize("slug", ["", "A", "-a", "a_b", "a" * 64, "é", "a/b", "a\n"])
def test_bad_slugs_are_refused(slug: str) -> None:
    """A slug is lower-case letters, digits and hyphens."""
    with pytest.raises(InvalidArgument, match="slug"):
        new_slug_from(workspaces_pb2.CreateWorkspaceRequest(slug=slug))


def test_settings_take_their_defaults() -> None:
    """French, cut by structure, index by size."""
    settings = settings_from(workspaces_pb2.CreateWorkspaceRequest(slug="a"))

    assert settings.language is WorkspaceLanguage.FRENCH
    assert settings.chunking_profile is ChunkingProfile.STRUCTURE
    assert settings.preset == "default"
    assert settings.dense_index_kind is DenseIndexKind.AUTO


@pytest.mark.parametrize(
    "settings",
    [
        workspaces_pb2.WorkspaceSettings(language="de"),
        workspaces_pb2.WorkspaceSettings(chunking_profile="pages"),
        workspaces_pb2.WorkspaceSettings(preset="No Name"),
    ],
)
def test_unknown_settings_are_refused(settings: workspaces_pb2.WorkspaceSettings) -> None:
    """The field and the values that are known are named."""
    request = workspaces_pb2.CreateWorkspaceRequest(
        slug="a",
        settings=settings,
    )
    with pytest.raises(InvalidArgument, match="settings"):
        settings_from(request)


@pytest.mark.parametrize("count", [-1, 31, 401])
def test_parts_out_of_bounds_are_refused(count: int) -> None:
    """For a new workspace, and for one that changes."""
    settings = workspaces_pb2.WorkspaceSettings(child_token_count=count)
    with pytest.raises(InvalidArgument, match="32 to 400") as created:
        settings_from(workspaces_pb2.CreateWorkspaceRequest(slug="a", settings=settings))
    with pytest.raises(InvalidArgument, match="32 to 400") as updated:
        update_from(workspaces_pb2.UpdateWorkspaceRequest(slug="a", child_token_count=count))

    assert created.value.field == "settings.child_token_count"
    assert updated.value.field == "child_token_count"


@pytest.mark.parametrize("count", [None, 0, 32, 400])
def test_parts_within_bounds_are_taken(count: int | None) -> None:
    """Zero is a choice, and nothing said is none."""
    request = workspaces_pb2.UpdateWorkspaceRequest(slug="a", child_token_count=count)

    assert update_from(request).child_token_count == count


def search_message(**fields: object) -> search_pb2.SearchPassagesRequest:
    """Returns a search for `eau` with these fields."""
    given = {"workspace": "docs", "variants": [search_pb2.QueryVariant(text="eau")], **fields}
    return search_pb2.SearchPassagesRequest(**given)  # type: ignore[arg-type]


def test_searches_take_their_defaults() -> None:
    """What is not set is hybrid, 20 a list, all hits, fused as the workspace says, no check."""
    request = search_request_from(search_message())

    assert request.mode is SearchMode.HYBRID
    assert (request.candidate_count, request.limit, request.spaces_version) == (20, None, None)
    assert request.fusion == FusionChoices()
    assert (request.variants[0].weight, request.variants[0].lexical_weight) == (1, None)
    assert request.passages_per_document is None


def test_a_zero_that_is_set_is_kept() -> None:
    """Weight 0 and version 0 mean 0, not unset."""
    variant = search_pb2.QueryVariant(text="eau", weight=0, lexical_weight=0)
    request = search_request_from(
        search_message(variants=[variant], lexical_weight=0, dense_weight=0, spaces_version=0)
    )

    assert (request.variants[0].weight, request.variants[0].lexical_weight) == (0, 0)
    assert request.fusion == FusionChoices(None, 0, 0)
    assert request.spaces_version == 0


def test_a_largest_distance_is_a_smallest_similarity() -> None:
    """Distance is 1 - cosine."""
    threshold = search_pb2.Threshold(space_id="s", max_distance=0.25)
    request = search_request_from(search_message(thresholds=[threshold]))

    assert request.thresholds[0].min_similarity == 0.75


def test_a_share_of_terms_is_what_was_written() -> None:
    """It travels as float32, yet three terms of ten are 0.3; not set takes the default."""
    given = [
        search_pb2.Threshold(min_term_share=0.3),
        search_pb2.Threshold(min_term_share=0, space_id="s", min_similarity=-1),
        search_pb2.Threshold(space_id="s", min_similarity=0),
    ]
    request = search_request_from(search_message(thresholds=given))

    assert [threshold.min_term_share for threshold in request.thresholds] == [
        3 / 10,
        0,
        DEFAULT_TERM_SHARE,
    ]
    assert [threshold.min_similarity for threshold in request.thresholds] == [None, -1, 0]


VARIANT = search_pb2.QueryVariant(text="eau")
SHORT = search_pb2.QueryVector(space_id="s", vector=b"123")
VECTOR = search_pb2.QueryVector(space_id="s", vector=b"1234")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"variants": []}, "variants"),
        ({"variants": [VARIANT] * 9}, "variants"),
        ({"variants": [search_pb2.QueryVariant(text=" \n")]}, "variants[0].text"),
        ({"variants": [search_pb2.QueryVariant(text="é" * 4_097)]}, "variants[0].text"),
        (
            {"variants": [search_pb2.QueryVariant(text="a", lexical_weight=float("nan"))]},
            "variants[0].lexical_weight",
        ),
        (
            {"variants": [VARIANT, search_pb2.QueryVariant(text="a", weight=-1)]},
            "variants[1].weight",
        ),
        (
            {"variants": [search_pb2.QueryVariant(text="a", vectors=[SHORT])]},
            "variants[0].vectors[0].vector",
        ),
        (
            {"variants": [search_pb2.QueryVariant(text="a", vectors=[VECTOR, VECTOR])]},
            "variants[0].vectors[1].space_id",
        ),
        ({"mode": 99}, "mode"),
        ({"candidate_count": 201}, "candidate_count"),
        ({"candidate_count": -1}, "candidate_count"),
        ({"limit": 1_000_000}, "limit"),
        ({"limit": -1}, "limit"),
        ({"passages_per_document": -1}, "passages_per_document"),
        ({"rank_constant": 0}, "rank_constant"),
        ({"rank_constant": float("nan")}, "rank_constant"),
        ({"rank_constant": 10_001}, "rank_constant"),
        ({"dense_weight": float("inf")}, "dense_weight"),
        ({"lexical_weight": -0.5}, "lexical_weight"),
        ({"space_weights": {"s": 1_001}}, "space_weights['s']"),
        ({"space_weights": {str(space): 1 for space in range(33)}}, "space_weights"),
        ({"thresholds": [search_pb2.Threshold(min_similarity=0.5)]}, "thresholds[0].space_id"),
        ({"thresholds": [search_pb2.Threshold(space_id="s")]}, "thresholds[0].bound"),
        ({"thresholds": [search_pb2.Threshold()]}, "thresholds[0]"),
        (
            {"thresholds": [search_pb2.Threshold(space_id="s", min_similarity=1.5)]},
            "thresholds[0].min_similarity",
        ),
        (
            {"thresholds": [search_pb2.Threshold(space_id="s", max_distance=-0.1)]},
            "thresholds[0].max_distance",
        ),
        (
            {"thresholds": [search_pb2.Threshold(space_id="s", max_distance=float("nan"))]},
            "thresholds[0].max_distance",
        ),
        (
            {"thresholds": [search_pb2.Threshold(min_term_share=1.01)]},
            "thresholds[0].min_term_share",
        ),
        (
            {"thresholds": [search_pb2.Threshold(min_term_share=0.5, context_differs=True)]},
            "thresholds[0].context_field",
        ),
        ({"offset": -1}, "offset"),
        ({"offset": 10_001}, "offset"),
    ],
)
def test_searches_out_of_bounds_are_refused(fields: dict[str, object], field: str) -> None:
    """The field is named."""
    with pytest.raises(InvalidArgument) as caught:
        search_request_from(search_message(**fields))

    assert caught.value.field == field


def test_filters_are_read() -> None:
    """That of the search, and the condition of a threshold, whose fields are named."""
    condition = search_pb2.Filter(field_exists="category")
    wrong = search_pb2.Filter(field_exists="title")
    threshold = search_pb2.Threshold(space_id="s", min_similarity=0.5, condition=condition)
    request = search_request_from(search_message(filter=condition, thresholds=[threshold]))

    assert request.filter == request.thresholds[0].condition == FieldExists("category")
    assert search_request_from(search_message()).filter is None
    threshold.condition.CopyFrom(wrong)
    with pytest.raises(InvalidArgument, match="title") as caught:
        search_request_from(search_message(thresholds=[threshold]))
    assert caught.value.field == "thresholds[0].condition.field_exists"
