"""Contexts as both clients and the command line return them."""

import json

import pytest

from justesse.client import (
    AsyncJustesse,
    Context,
    ContextFormat,
    ContextOptions,
    ContextSource,
    Justesse,
    LeftOutPassages,
    Speaker,
    Turn,
)
from justesse.client.contexts import context_from
from justesse.gateway.v1 import context_pb2
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway, fake_gateway_in_thread
from tests.fakes.fake_gateway.contexts import BLOCK

WANTED = ContextOptions(
    format=ContextFormat.HEADED,
    language="en",
    token_budget=900,
    role="Tu aides.",
    permissions_note="Rien de secret.",
    live_data="Stock : 3.",
)


async def asynchronously(state: GatewayState) -> Context:
    """Asks with the client for asyncio."""
    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        return await justesse.build_context(
            "demo", "Pourquoi ?", WANTED, limit=3, history=[Turn(Speaker.USER, "Avant ?")]
        )


async def test_a_context_is_asked_for_like_a_search() -> None:
    """What is wanted stands beside the search; the answer comes back typed."""
    state = GatewayState()
    built = await asynchronously(state)

    (request,) = state.contexts
    assert (request.search.workspace, request.search.limit) == ("demo", 3)
    assert request.search.history[0].text == "Avant ?"
    assert request.format == context_pb2.CONTEXT_FORMAT_HEADED
    assert (request.language, request.token_budget) == ("en", 900)
    assert (request.role, request.permissions_note) == ("Tu aides.", "Rien de secret.")
    assert request.live_data == "Stock : 3."
    assert built.block == BLOCK
    assert built.sources == (
        ContextSource(
            1,
            "[[source:shipments/retards.pdf|Retards]]",
            "shipments/retards.pdf",
            "Retards",
            "file:///retards.pdf",
            ("Causes",),
            "page 3",
            ("p1", "p2"),
            2,
        ),
    )
    assert built.left_out == LeftOutPassages(1, 2, 3)
    assert (built.format, built.language, built.cut) == (ContextFormat.NUMBERED, "fr", True)
    assert built.receipt.stages


def test_the_synchronous_client_leaves_all_to_the_workspace() -> None:
    """Nothing is sent but the question; a format of tomorrow is no failure."""
    state = GatewayState()
    with fake_gateway_in_thread(state) as address, Justesse(address) as justesse:
        justesse.build_context("demo", "Pourquoi ?")
        with pytest.raises(ValueError, match="UNKNOWN"):
            justesse.build_context("demo", "?", {"format": ContextFormat.UNKNOWN})

    (request,) = state.contexts
    assert request.format == context_pb2.CONTEXT_FORMAT_UNSPECIFIED
    assert not request.search.HasField("limit")
    later = context_from(context_pb2.BuildContextResponse(format=9))  # type: ignore[arg-type]
    assert later.format is ContextFormat.UNKNOWN


def test_the_block_alone_is_written_to_standard_output(line: CommandLine) -> None:
    """So that it can be piped into a prompt; what it is made of goes to standard error."""
    done = line.run("context", "Pourquoi ?", "-w", "demo", "--format", "headed", width=120)

    assert done.stdout == f"{BLOCK}\n"
    words = " ".join(done.stderr.split())
    assert "[[source:shipments/retards.pdf|Retards]]" in words
    assert "1 superseded, 2 beyond the bound of a document, 3 beyond the budget" in words
    assert "The source is cut." in words
    assert line.state.contexts[-1].format == context_pb2.CONTEXT_FORMAT_HEADED


def test_prompts_are_written_where_they_are_wanted(line: CommandLine) -> None:
    """System prompt first, then what the user says."""
    output = line.run("context", "Pourquoi ?", "-w", "demo", "--prompts", "--role", "Tu aides.")

    assert output.stdout.startswith("Réponds à partir des sources.\n\nSOURCES-1\n")
    assert output.stdout.endswith("Question : Pourquoi ?\n")
    assert line.state.contexts[-1].role == "Tu aides."


def test_json_holds_the_whole_context(line: CommandLine) -> None:
    """And nothing else is written to standard output."""
    built = json.loads(line.run("context", "Pourquoi ?", "-w", "demo", "--json").stdout)

    assert built["block"] == BLOCK
    assert built["sources"][0]["document_id"] == "shipments/retards.pdf"


def test_nothing_found_is_said(line: CommandLine) -> None:
    """Standard output stays empty."""
    done = line.run("context", "rien", "-w", "demo")

    assert done.stdout == ""
    assert "No source" in done.stderr
