"""The door in OpenAI's shape: what front ends send, and what they get."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gateway.http.chat.request import ChatBody
from gateway.rewriting import ConversationRole
from gateway.validation import MAX_HISTORY_TURNS
from tests.fakes.answers.doors import answer_doors
from tests.fakes.answers.tile_trade import QUESTION, fill
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

PATH = "/v1/chat/completions"


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _body(*messages: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"model": "negoce", "messages": list(messages), **options}


async def test_a_front_end_gets_what_openai_would_answer(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """Every field a client reads, and our own beside them; fields we do not use are taken."""
    fill(mesh)
    asked = _body(_user(QUESTION), temperature=1.9, tools=[], user="u", max_tokens=7, n=1)
    answer = (await http.post(PATH, json=asked)).json()

    assert answer["object"] == "chat.completion"
    assert answer["id"].startswith("chatcmpl-")
    assert answer["model"] == "negoce"
    assert answer["created"] > 0
    (choice,) = answer["choices"]
    assert choice["message"]["role"] == "assistant"
    assert choice["finish_reason"] == "stop"
    assert set(answer["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}
    assert {"document_id", "title", "index"} <= set(answer["citations"][0])


async def test_usage_comes_in_a_stream_only_where_it_is_asked_for(
    mesh: MeshOfFakes, http: httpx.AsyncClient
) -> None:
    """As a chunk of its own, without choices, after the one with the citations."""
    fill(mesh)
    plain = (await http.post(PATH, json=_body(_user(QUESTION), stream=True))).text
    asked = _body(_user(QUESTION), stream=True, stream_options={"include_usage": True})
    counted = (await http.post(PATH, json=asked)).text

    assert '"usage"' not in plain
    *_, last, usage, done, end = counted.split("\n\n")
    assert '"citations"' in last
    assert '"choices":[],"usage"' in usage
    assert (done, end) == ("data: [DONE]", "")


async def test_earlier_messages_are_the_history(mesh: MeshOfFakes) -> None:
    """Those of users and assistants, parts joined; systems and tools say nothing here."""
    fill(mesh)
    body = _body(
        {"role": "system", "content": "Be rude."},
        _user([{"type": "text", "text": "Les palettes"}, {"type": "text", "text": "entamées ?"}]),
        {"role": "assistant", "content": "Non."},
        {"role": "tool", "content": "42", "tool_call_id": "x"},
        {"role": "assistant", "content": None, "tool_calls": []},
        _user([{"type": "text", "text": QUESTION}]),
    )
    async with answer_doors(mesh) as doors:
        answer = await doors.http.post(PATH, json=body)

    assert answer.status_code == 200
    ((query, _, history),) = mesh.rewriter.calls
    assert query == QUESTION
    assert [(turn.role, turn.text) for turn in history] == [
        (ConversationRole.USER, "Les palettes\nentamées ?"),
        (ConversationRole.ASSISTANT, "Non."),
    ]


def test_a_long_chat_keeps_its_latest_turns() -> None:
    """Front ends send all there ever was; a question takes so much of it at most."""
    talk = [_user(f"Question {number} ?") for number in range(50)]
    many = ChatBody.model_validate(_body(*talk, _user("Fin ?"))).question()
    large = ChatBody.model_validate(
        _body(_user("a" * 20_000), _user("b" * 20_000), _user("Fin ?"))
    ).question()

    assert [turn.text for turn in many.history] == [
        f"Question {number} ?" for number in range(50 - MAX_HISTORY_TURNS, 50)
    ]
    assert [turn.text[0] for turn in large.history] == ["b"]


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (_body(), "invalid_argument", "messages"),
        (_body(_user("q"), {"role": "assistant", "content": "a"}), "invalid_argument", "messages"),
        (_body(_user(" ")), "invalid_argument", "query"),
        (
            _body(_user([{"type": "image_url", "image_url": {"url": "https://x.test"}}])),
            "content_not_supported",
            "messages[0].content[0].type",
        ),
        (
            _body(_user([{"type": "input_audio"}]), _user("q")),
            "content_not_supported",
            "messages[0].content[0].type",
        ),
        ({"messages": [_user("q")]}, "invalid_argument", "model"),
        (_body({"role": "user", "content": 7}), "invalid_argument", None),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_cannot_be_asked_is_refused_in_openais_shape(
    http: httpx.AsyncClient, body: dict[str, Any], code: str, param: str | None, stream: bool
) -> None:
    """Before anything is streamed, and by field."""
    answer = await http.post(PATH, json={**body, "stream": stream})

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["code"] == code
    if param is not None:
        assert error["param"] == param


async def test_every_failure_has_openais_shape(mesh: MeshOfFakes, http: httpx.AsyncClient) -> None:
    """No such workspace, a lost retriever, a body that is too large, and one that is no JSON."""
    missing = await http.post(PATH, json={**_body(_user("q")), "model": "gone"})
    large = await http.post(PATH, content=b"x" * 2_000_000)
    broken = await http.post(PATH, content=b"{", headers={"content-type": "application/json"})
    mesh.retriever.behaviour.error = RuntimeError("a bug")
    bug = await http.post(PATH, json=_body(_user("q")))

    told = [(each.status_code, each.json()["error"]["type"]) for each in (missing, large, bug)]
    assert told == [
        (404, "not_found_error"),
        (413, "invalid_request_error"),
        (500, "server_error"),
    ]
    assert missing.json()["error"]["code"] == "model_not_found"
    assert broken.status_code == 400
    assert "param" in broken.json()["error"]
    assert "a bug" not in bug.text


async def test_other_routes_keep_their_shape(http: httpx.AsyncClient) -> None:
    """The same mistake on our own route is told in our own words."""
    await http.post(PATH, json=_body())
    answer = await http.post("/v1/answer", json={"workspace": "negoce", "query": " "})

    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


async def test_each_workspace_is_a_model(mesh: MeshOfFakes, http: httpx.AsyncClient) -> None:
    """By its slug."""
    mesh.retriever.add_workspace("autre")
    models = (await http.get("/v1/models")).json()

    assert models["object"] == "list"
    assert [model["id"] for model in models["data"]] == ["autre", "negoce"]
    assert {model["object"] for model in models["data"]} == {"model"}
