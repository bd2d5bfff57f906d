"""Whatever callers do, and however they leave, nothing reaches them that is not theirs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from gateway.access.needs import Reach
from justesse.gateway.v1 import (
    documents_pb2,
    explanations_pb2,
    glossary_pb2,
    ingestion_pb2,
    jobs_pb2,
    search_pb2,
)
from tests.fakes.gateway_services.calls import RouteCall, Rpc, of_reach
from tests.fakes.gateway_services.canary_base import (
    TEAMS,
    WORDS,
    WORKSPACES,
    Caller,
    CanaryBase,
    canary_base,
    canary_of,
    document_id,
)

AT_ONCE = 20
CANARIES = frozenset(canary_of(workspace, team) for workspace in WORKSPACES for team in TEAMS)
# These would leave nothing to be found; they are tried on their own.
_DESTRUCTIVE = ("DeleteWorkspace", "DeleteSource", "DropSpace", "DeleteGlossaryEntries")


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[CanaryBase]:
    """Four workspaces with canaries, and callers with keys of every kind."""
    async with canary_base(tmp_path) as opened:
        yield opened


class Storm:
    """Calls at random, and what came back to whom."""

    def __init__(self, base: CanaryBase, seed: int) -> None:
        self.base = base
        self.rng = random.Random(seed)
        self.leaks: list[str] = []
        self.served = 0
        self.refused = 0
        self.cancelled = 0
        self.calls: list[Rpc | RouteCall] = [
            call for call in of_reach(*Reach) if not _destroys(call)
        ]

    async def call_once(self) -> None:
        """Makes one call, of the tables or a telling one, and looks at what comes back."""
        rng = self.rng
        caller = rng.choice(self.base.callers)
        # Every second call at least is one that the caller may hope to be served.
        own = [slug for slug in WORKSPACES if caller.name.startswith(slug)]
        workspace = rng.choice(own if own and rng.random() < 0.5 else WORKSPACES)
        kind = rng.random()
        cut_after_s = rng.choice([0.0, 0.001, 0.003]) if rng.random() < 0.15 else None
        if kind < 0.35:
            work = self._call_of_table(caller, workspace, rng.choice(self.calls))
        elif kind < 0.65:
            work = self._telling_rpc(caller, workspace)
        else:
            work = self._telling_route(caller, workspace)
        try:
            async with asyncio.timeout(cut_after_s):
                text = await work
        except TimeoutError:
            self.cancelled += 1
            return
        for canary in CANARIES - caller.own:
            if canary in text:
                self.leaks.append(f"{canary} reached {caller.name}: {text[:500]}")

    async def _call_of_table(self, caller: Caller, workspace: str, call: Rpc | RouteCall) -> str:
        if isinstance(call, RouteCall):
            answer = await call.call(self.base.http, workspace, _headers(caller))
            self._count(answer.status_code < 400)
            return answer.text + str(answer.headers)
        try:
            answers = await call.call(self.base.channel, workspace, _metadata(caller))
        except grpc.aio.AioRpcError as error:
            return self._refusal(error)
        self._count(True)
        return str(answers)

    async def _telling_rpc(self, caller: Caller, workspace: str) -> str:
        """Asks by words that stand in every document, or for what belongs to one team."""
        rng = self.rng
        team = rng.choice(TEAMS)
        search = search_pb2.SearchPassagesRequest(
            workspace=workspace,
            query=rng.choice([WORDS, f"{WORDS} ?", "navire"]),
            limit=rng.choice([1, 20]),
            highlight=rng.random() < 0.5,
            include_parents=rng.random() < 0.5,
        )
        if rng.random() < 0.3:
            other = rng.choice(TEAMS)
            search.filter.negation.equals.field = "metadata.team"
            search.filter.negation.equals.value.string_value = other
        external_id = document_id(workspace, team, rng.randrange(4))
        requests = {
            "SearchService/SearchPassages": search,
            "ExplanationService/ExplainSearch": explanations_pb2.ExplainSearchRequest(
                search=search, external_id=external_id
            ),
            "DocumentService/GetDocument": documents_pb2.GetDocumentRequest(
                workspace=workspace, external_id=external_id
            ),
            "DocumentService/ListDocuments": documents_pb2.ListDocumentsRequest(
                workspace=workspace, page_size=rng.choice([1, 50])
            ),
            "GlossaryService/ListGlossaryEntries": glossary_pb2.ListGlossaryEntriesRequest(
                workspace=workspace
            ),
            "JobService/ListJobs": jobs_pb2.ListJobsRequest(workspace=workspace),
            "IngestionService/RechunkDocument": ingestion_pb2.RechunkDocumentRequest(
                workspace=workspace, external_id=f"{team}/none.md"
            ),
        }
        path, request = rng.choice(list(requests.items()))
        send: Any = self.base.channel.unary_unary(
            f"/justesse.gateway.v1.{path}",
            request_serializer=lambda message: message.SerializeToString(),
        )
        try:
            answer: bytes = await send(request, metadata=_metadata(caller), timeout=30)
        except grpc.aio.AioRpcError as error:
            return _without_own_words(self._refusal(error), external_id)
        self._count(True)
        return answer.decode("utf-8", "ignore")

    async def _telling_route(self, caller: Caller, workspace: str) -> str:
        rng, http = self.rng, self.base.http
        team, headers = rng.choice(TEAMS), _headers(caller)
        external_id = document_id(workspace, team, rng.randrange(4))
        where = {"workspace": workspace}
        body = {**where, "query": WORDS, "limit": rng.choice([1, 20])}
        chat = {"model": workspace, "messages": [{"role": "user", "content": WORDS}]}
        upload = {**where, "external_id": f"{team}/new.md", "metadata": f'{{"team": "{team}"}}'}
        calls = [
            lambda: http.post("/v1/search", json=body, headers=headers),
            lambda: http.post(
                "/v1/explain", json={**body, "external_id": external_id}, headers=headers
            ),
            lambda: http.post("/v1/answer", json=body, headers=headers),
            lambda: http.post("/v1/chat/completions", json=chat, headers=headers),
            lambda: http.get("/v1/models", headers=headers),
            lambda: http.get("/v1/documents", params=where, headers=headers),
            lambda: http.get(f"/v1/documents/{external_id}", params=where, headers=headers),
            lambda: http.get("/v1/workspaces", headers=headers),
            lambda: http.get(f"/v1/workspaces/{workspace}/glossary", headers=headers),
            lambda: http.post(
                "/v1/documents", files={"file": ("n.md", b"t")}, data=upload, headers=headers
            ),
            lambda: http.delete(f"/v1/documents/{team}/none.md", params=where, headers=headers),
        ]
        answer = await rng.choice(calls)()
        self._count(answer.status_code < 400)
        return _without_own_words(answer.text + str(answer.headers), external_id)

    def _refusal(self, error: grpc.aio.AioRpcError) -> str:
        self._count(False)
        return f"{error.details()} {error.trailing_metadata()} {error.initial_metadata()}"

    def _count(self, served: bool) -> None:
        self.served += served
        self.refused += not served


def _destroys(call: Rpc | RouteCall) -> bool:
    if isinstance(call, Rpc):
        return call.method.name in _DESTRUCTIVE or call.method.name == "RevokeKey"
    return call.method == "DELETE" and "external_id" not in call.template


def _without_own_words(text: str, asked: str) -> str:
    """Takes out what the caller said himself and an error repeats."""
    return text.replace(asked, "ASKED") if "NOT_FOUND" in text or "no document" in text else text


def _headers(caller: Caller) -> dict[str, str]:
    return {} if caller.key is None else {"Authorization": f"Bearer {caller.key.text}"}


def _metadata(caller: Caller) -> tuple[tuple[str, str], ...]:
    return () if caller.key is None else (("authorization", f"Bearer {caller.key.text}"),)


async def test_nothing_reaches_who_may_not_see_it(base: CanaryBase, soak: bool) -> None:
    """Random calls of every kind through both doors, twenty at once, some cut off on their way.

    Neither answers nor errors, headers, log lines or labels of metrics hold a text that belongs to
    somebody else; log lines and labels hold no text and no key at all.
    """
    storm = Storm(base, seed=20)
    count = 10_000 if soak else 1_000

    with capture_logs() as lines:
        for _ in range(count // AT_ONCE):
            await asyncio.gather(*(storm.call_once() for _ in range(AT_ONCE)))

    assert storm.leaks == []
    told = repr(lines) + generate_latest(base.metrics.registry).decode()
    assert [canary for canary in CANARIES if canary in told] == []
    secrets = [caller.key.text for caller in base.callers if caller.key is not None]
    assert [secret for secret in secrets if secret[-43:] in told] == []
    # Otherwise nothing was tried.
    assert min(storm.served, storm.refused) > count / 10
    assert storm.cancelled > 0
    assert len(lines) > count / 10


async def test_owners_do_find_their_own(base: CanaryBase) -> None:
    """The storm would find nothing in a base that answers nobody."""
    reader = next(caller for caller in base.callers if caller.name == "beta reader")
    bound = next(caller for caller in base.callers if caller.name == "beta vert")
    body = {"workspace": "beta", "query": WORDS, "limit": 20}
    found = {}
    for caller in (reader, bound):
        answer = await base.http.post("/v1/search", json=body, headers=_headers(caller))
        found[caller.name] = {canary for canary in CANARIES if canary in answer.text}

    assert found == {"beta reader": reader.own, "beta vert": bound.own}
    assert bound.own < reader.own
