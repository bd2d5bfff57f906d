"""Requests that nobody would send, at every RPC and every route: clean errors, and nothing else."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from random import Random
from typing import Any

import grpc.aio
import httpx
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tests.fakes.gateway_services.calls import RouteCall, Rpc, route_calls, rpcs, sound_body
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

_TEXTS = (
    "",
    " ",
    "é" * 3000,
    "\x00",
    "a\u202eb",
    "null",
    "-1",
    "../../etc",
    "{}",
    "'; --",
    "🇫🇷" * 50,
)
_NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 10**9)
_REALS = (0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324)
_JSON_VALUES: tuple[Any, ...] = (
    *(None, True, [], {}, [[]], 0, -1, 1.5, 2**70, -(2**70), 1e400),
    *("", "\x00", "\ud800", "é" * 3000, "null", "2026-02-30T00:00:00Z"),
    [None] * 50,
    {"a": {"b": {"c": []}}},
)


def mutated_bytes(content: bytes, random: Random) -> bytes:
    """Returns bytes with some of them lost, doubled, turned, or made up."""
    changed = bytearray(content or b"\x0a\x01a")
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(changed) + 1)
        match random.randrange(4):
            case 0:
                del changed[place : place + random.randint(1, 8)]
            case 1:
                changed[place:place] = changed[: random.randint(1, 16)]
            case 2:
                changed[place:place] = random.randbytes(random.randint(1, 8))
            case _:
                if changed:
                    changed[place % len(changed)] ^= 1 << random.randrange(8)
    return bytes(changed)


def scramble(message: Message, random: Random, depth: int = 0) -> None:
    """Sets fields of a message to values at and beyond their edges."""
    fields: list[Any] = list(message.DESCRIPTOR.fields)
    for field in fields:
        if random.random() < 0.5:
            continue
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if field.message_type.GetOptions().map_entry or depth > 8:
                continue
            held = getattr(message, field.name)
            scramble(held.add() if field.is_repeated else held, random, depth + 1)
            if not field.is_repeated:
                held.SetInParent()
            continue
        value = _value(field, random)
        if field.is_repeated:
            getattr(message, field.name).extend([value] * random.choice((1, 2, 300)))
        else:
            setattr(message, field.name, value)


def _value(field: Any, random: Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = random.choice(_TEXTS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
        case FieldDescriptor.CPPTYPE_BOOL:
            return random.random() < 0.5
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return random.choice(_REALS)
        case FieldDescriptor.CPPTYPE_UINT32 | FieldDescriptor.CPPTYPE_UINT64:
            return abs(random.choice(_NUMBERS)) % 2**32
        case FieldDescriptor.CPPTYPE_ENUM:
            return random.choice((0, 1, 2, 99))
        case _:
            return random.choice(_NUMBERS)


def mutated_json(value: Any, random: Random) -> Any:
    """Returns JSON with one or two values exchanged, dropped, or held one level deeper."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        rest = {name: each for name, each in value.items() if name != key}
        match random.randrange(4):
            case 0:
                return rest
            case 1:
                return rest | {key: random.choice(_JSON_VALUES)}
            case 2:
                return value | {f"{key}_": value[key], "limit": random.choice(_JSON_VALUES)}
            case _:
                return rest | {key: mutated_json(value[key], random)}
    return random.choice((random.choice(_JSON_VALUES), [value], {"": value}))


async def outcome(channel: grpc.aio.Channel, rpc: Rpc, content: bytes) -> tuple[str, str]:
    """Sends bytes and returns status and details."""
    streams = rpc.method.client_streaming, rpc.method.server_streaming
    kind = f"{'stream' if streams[0] else 'unary'}_{'stream' if streams[1] else 'unary'}"
    call = getattr(channel, kind)(rpc.path)(iter([content]) if streams[0] else content, timeout=60)
    try:
        if streams[1]:
            async for _ in call:
                call.cancel()
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error.code().name, error.details() or ""
    except BaseException as error:
        return type(error).__name__, ""
    return "OK", ""


def protobufs(count: int, random: Random) -> Iterator[tuple[Rpc, bytes]]:
    """Yields requests of all methods in turn, half of them sound messages of odd values."""
    every = rpcs()
    for number in range(count):
        rpc = every[number % len(every)]
        request = rpc.request("negoce")
        if random.random() < 0.5:
            scramble(request, random)
            yield rpc, request.SerializeToString()
        else:
            yield rpc, mutated_bytes(request.SerializeToString(), random)


async def test_mutated_protobufs_get_clean_errors(
    channel: grpc.aio.Channel, caplog: pytest.LogCaptureFixture, soak: bool
) -> None:
    """No INTERNAL, no traceback in an answer or in the log, and the server goes on."""
    random = Random(9)
    found: list[tuple[str, str, str]] = []
    with caplog.at_level(logging.ERROR):
        for rpc, content in protobufs(4000 if soak else 400, random):
            status, details = await outcome(channel, rpc, content)
            found.append((rpc.path, status, details))

    unclean = [
        each
        for each in found
        if each[1] in {"INTERNAL", "UNKNOWN", "DEADLINE_EXCEEDED", "DATA_LOSS"}
        or "Traceback" in each[2]
        or "Error(" in each[2]
    ]
    assert unclean == []
    assert [record.getMessage() for record in caplog.records] == []
    assert {status for _, status, _ in found} >= {"OK", "INVALID_ARGUMENT", "NOT_FOUND"}


def bodies(count: int, random: Random) -> Iterator[tuple[RouteCall, bytes]]:
    """Yields bodies of all routes that read JSON, in turn; some are not even JSON."""
    every = [each for each in route_calls() if each.method in {"POST", "PUT", "PATCH"}]
    for number in range(count):
        route = every[number % len(every)]
        body = mutated_json(sound_body(route, "negoce"), random)
        content = json.dumps(body).encode()
        yield route, mutated_bytes(content, random) if random.random() < 0.2 else content


async def test_mutated_json_gets_clean_errors(
    http: httpx.AsyncClient, mesh: MeshOfFakes, caplog: pytest.LogCaptureFixture, soak: bool
) -> None:
    """No 500, no traceback, and every refusal says in JSON what is wrong."""
    random = Random(9)
    statuses = set()
    with caplog.at_level(logging.ERROR):
        for route, content in bodies(4000 if soak else 400, random):
            path = route.template.replace("{slug}", "negoce").replace("{job_id}", "0" * 32)
            path = path.replace("{key}", "rag_reranking_enabled")
            answer = await http.request(
                route.method, path, content=content, headers={"content-type": "application/json"}
            )
            statuses.add(answer.status_code)
            told = f"{route.method} {path} {content[:200]!r}: {answer.text[:300]}"
            assert answer.status_code < 500 or answer.status_code == 501, told
            assert "Traceback" not in answer.text, told
            if answer.status_code >= 400:
                error = answer.json()["error"]
                assert error["message"], told
                assert "Error(" not in error["message"], told
    assert [record.getMessage() for record in caplog.records] == []
    assert {200, 400, 404} <= statuses
