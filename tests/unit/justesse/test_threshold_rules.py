"""Thresholds and context in the client and on the command line."""

from datetime import UTC, datetime

import pytest

from justesse.cli.failures import CommandError
from justesse.cli.threshold_rules import thresholds_of
from justesse.client import Justesse, Threshold, filters
from justesse.client.thresholds import threshold_message
from justesse.gateway.v1 import filters_pb2, workspaces_pb2
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import SPACE


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("similarity>=0.65", Threshold(min_similarity=0.65)),
        (" distance <= .35 in a/b ", Threshold("a/b", max_distance=0.35)),
        ("terms>=1", Threshold(min_term_share=1.0)),
        (
            "similarity>=-0.5 or terms>=0.3 in s",
            Threshold("s", min_similarity=-0.5, min_term_share=0.3),
        ),
        ("distance<=0.75 same week", Threshold(max_distance=0.75, context_field="week")),
        (
            "distance<=0.70 in s other week if category=plans|notes",
            Threshold(
                "s",
                max_distance=0.7,
                context_field="week",
                context_differs=True,
                condition=filters.one_of("category", ["plans", "notes"]),
            ),
        ),
        (
            "terms>=0.5 if metadata.name!=in s",
            Threshold(min_term_share=0.5, condition=~filters.equals("metadata.name", "in s")),
        ),
    ],
)
def test_rules_are_read(rule: str, expected: Threshold) -> None:
    """Score, bound, space, comparison and condition, each as needed."""
    assert thresholds_of([rule]) == [expected]


@pytest.mark.parametrize(
    "rule",
    [
        *("", "0.65", "similarity>0.65", "similarity>=x", "distance>=0.3", "terms>=0.3 in s"),
        *("terms>=0.3 or terms>=0.2", "similarity>=0.5 in", "similarity>=0.5 near week"),
        *("similarity>=0.5 if nothing=", "similarity>=0.5 in s in t"),
    ],
)
def test_what_is_no_rule_is_refused(rule: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(CommandError, match="--threshold"):
        thresholds_of([rule])


def test_rules_and_context_reach_the_gateway(line: CommandLine) -> None:
    """A cosine rule without a space is about the only one; facts are typed by their look."""
    line.run(
        *("search", "eau", "-w", "demo", "--threshold", "distance<=0.75 same week"),
        *("--threshold", "terms>=0.5", "--threshold", "similarity>=0 in x"),
        *("--context", "week=12", "--context", "day=2024-05-01", "--context", 'code="12"'),
    )
    (search,) = line.state.searches
    moment = filters_pb2.MetadataValue()
    moment.time_value.FromDatetime(datetime(2024, 5, 1, tzinfo=UTC))

    assert list(search.thresholds) == [
        filters_pb2.Threshold(space_id=SPACE, max_distance=0.75, context_field="week"),
        filters_pb2.Threshold(min_term_share=0.5),
        filters_pb2.Threshold(space_id="x", min_similarity=0),
    ]
    assert dict(search.context) == {
        "week": filters_pb2.MetadataValue(number_value=12),
        "day": moment,
        "code": filters_pb2.MetadataValue(string_value="12"),
    }


def test_the_client_sends_what_the_command_does(line: CommandLine) -> None:
    """Every field of a rule, zeros included; without any, nothing."""
    rule = Threshold(
        SPACE, 0.0, None, 0.0, filters.exists("category"), "week", context_differs=True
    )
    with Justesse(line.address) as justesse:
        justesse.search("demo", "eau", thresholds=[rule], context={"week": 12})
        justesse.search("demo", "eau")

    first, second = line.state.searches
    (sent,) = first.thresholds
    assert sent.HasField("min_term_share")
    assert sent.WhichOneof("bound") == "min_similarity"
    assert (sent.context_field, sent.context_differs) == ("week", True)
    assert sent.condition == filters.exists("category").message
    assert (len(second.thresholds), len(second.context)) == (0, 0)
    with pytest.raises(ValueError, match="not both"):
        threshold_message(Threshold(SPACE, 0.5, 0.5))


def test_a_rule_whose_space_cannot_be_guessed_is_refused(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spaces there are, are named; bad facts are refused as well."""
    two = [workspaces_pb2.Space(space_id=name) for name in ("one", "two")]
    workspace = workspaces_pb2.Workspace(slug="demo", spaces=two)
    monkeypatch.setattr(line.state, "workspace", lambda _slug: workspace)
    ask = ("search", "eau", "-w", "demo")
    message = line.error(*ask, "--threshold", "similarity>=0.5", code=2)

    assert "has 2 vector spaces; add 'in SPACE' (one of one, two)" in message
    assert "NAME=VALUE" in line.error(*ask, "--context", "week", code=2)
    assert line.state.searches == []
