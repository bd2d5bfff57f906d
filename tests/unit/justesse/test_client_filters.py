"""Conditions of searches: as Python, and as written on a command line."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from typer.testing import CliRunner

from justesse.cli.application import app
from justesse.cli.filter_expressions import filter_from_expressions
from justesse.client import AsyncJustesse, Justesse, filters
from justesse.client.filters import Filter
from justesse.gateway.v1 import filters_pb2, search_pb2, search_pb2_grpc
from tests.fakes.fake_gateway.search import search_response

MOMENT = datetime(2024, 5, 1, tzinfo=UTC)


def test_constructors_write_the_contract() -> None:
    """Each kind with typed values; operators join and negate."""
    year = filters.in_range("metadata.year", at_least=2023)
    condition = (filters.equals("category", "policies") & year) | ~filters.exists("valid_at")

    assert condition.message == filters_pb2.Filter(
        any_of=filters_pb2.FilterGroup(
            filters=[
                filters_pb2.Filter(
                    all_of=filters_pb2.FilterGroup(
                        filters=[
                            filters_pb2.Filter(
                                equals=filters_pb2.Comparison(
                                    field="category",
                                    value=filters_pb2.MetadataValue(string_value="policies"),
                                )
                            ),
                            filters_pb2.Filter(
                                range=filters_pb2.Range(
                                    field="metadata.year",
                                    at_least=filters_pb2.MetadataValue(number_value=2023),
                                )
                            ),
                        ]
                    )
                ),
                filters_pb2.Filter(negation=filters_pb2.Filter(field_exists="valid_at")),
            ]
        )
    )


def test_values_that_cannot_be_sent_are_refused() -> None:
    """A moment without time zone, and what is no value; zero and false are values."""
    with pytest.raises(ValueError, match="time zone"):
        filters.equals("valid_at", datetime(2024, 5, 1))
    with pytest.raises(TypeError, match=r"metadata\.x"):
        filters.one_of("metadata.x", [None])  # type: ignore[list-item]
    assert filters.in_range("metadata.x", at_least=0).message.range.HasField("at_least")
    assert not filters.equals("superseded", False).message.equals.value.bool_value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("category=policies", filters.equals("category", "policies")),
        (" category = bons de livraison ", filters.equals("category", "bons de livraison")),
        ("category=a|b", filters.one_of("category", ["a", "b"])),
        ('metadata.name="a|b"', filters.equals("metadata.name", "a|b")),
        ("category!=policies", ~filters.equals("category", "policies")),
        ("version=2", filters.equals("version", "2")),
        ("metadata.year>=2023", filters.in_range("metadata.year", at_least=2023.0)),
        ("metadata.year<2023", filters.in_range("metadata.year", less_than=2023.0)),
        (
            "metadata.year>2023",
            filters.in_range("metadata.year", at_least=2023.0)
            & ~filters.equals("metadata.year", 2023.0),
        ),
        (
            "metadata.year<=2023",
            filters.in_range("metadata.year", less_than=2023.0)
            | filters.equals("metadata.year", 2023.0),
        ),
        ('metadata.code="12"', filters.equals("metadata.code", "12")),
        ("metadata.formula=a=b", filters.equals("metadata.formula", "a=b")),
        ("superseded=false", filters.equals("superseded", False)),
        ("valid_at=2024-05-01", filters.equals("valid_at", MOMENT)),
        ("metadata.draft", filters.exists("metadata.draft")),
        ("!metadata.draft", ~filters.exists("metadata.draft")),
    ],
)
def test_expressions_are_read(expression: str, expected: Filter) -> None:
    """Values are typed by their look; fields that are text stay text."""
    assert filter_from_expressions([expression]) == expected


@pytest.mark.parametrize(
    "expression", ["", "!", "=x", "category=", "category>=", "!category=x", "valid_at=soon"]
)
def test_other_expressions_are_refused_with_their_text(expression: str) -> None:
    """What was written is repeated, or what was expected is said."""
    with pytest.raises(ValueError, match=r"is no condition|has no value|a moment such as"):
        filter_from_expressions([expression])


def test_several_expressions_must_all_hold() -> None:
    """None at all is no condition."""
    both = filters.exists("category") & filters.exists("version")

    assert filter_from_expressions(["category", "version"]) == both
    assert filter_from_expressions([]) is None


@contextmanager
def _gateway(answer: search_pb2.SearchPassagesResponse) -> Iterator[tuple[str, list[Any]]]:
    """A gateway that notes what it is asked."""
    asked: list[Any] = []

    class Servicer(search_pb2_grpc.SearchServiceServicer):
        def SearchPassages(self, request: Any, context: Any) -> search_pb2.SearchPassagesResponse:
            asked.append(request)
            return answer

    server = grpc.server(ThreadPoolExecutor(1))
    search_pb2_grpc.add_SearchServiceServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}", asked
    finally:
        server.stop(None).wait()


def test_both_clients_and_the_command_send_the_condition() -> None:
    """One that is not given is not sent; a wrong one ends the command with 2."""
    condition = filters.equals("category", "policies")

    async def ask(address: str) -> None:
        async with AsyncJustesse(address) as justesse:
            await justesse.search("demo", "q", filter=condition)

    with _gateway(search_response("r-1")) as (address, asked):
        with Justesse(address) as justesse:
            justesse.search("demo", "q", filter=condition)
            justesse.search("demo", "q")
        asyncio.run(ask(address))
        command = ["search", "q", "-w", "demo", "--address", address, "--filter"]
        done = CliRunner().invoke(app, [*command, "category=policies"])
        refused = CliRunner().invoke(app, [*command, "category="])

    assert [each.filter for each in asked if each.HasField("filter")] == [condition.message] * 3
    assert [each.HasField("filter") for each in asked] == [True, False, True, True]
    assert done.exit_code == 0
    assert refused.exit_code == 2
    assert "'category=' has no value" in refused.stderr
