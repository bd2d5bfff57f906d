"""Four workspaces of two teams, each with texts that nobody else may see, behind both doors.

Retriever, claims, keys and grants are real; models, files and jobs are fakes over them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import httpx
import numpy as np

from chassis.channel import open_channel
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.access.access import Access
from gateway.access.api_key import ApiKey
from gateway.access.claimed_actions import action_of_call, action_of_ingestion
from gateway.access.grants import Action
from gateway.access.key_ring import KeyRing
from gateway.access.keys import Keys
from gateway.application import Application, Services, assembled
from gateway.clients.retriever import RetrieverClient, retriever_over
from gateway.documents import Document, Passage, VectorBlock
from gateway.filters import Equals
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.editing import putting
from gateway.glossary.entry import GlossaryEntry
from gateway.http.app import http_door
from gateway.mesh import Mesh
from gateway.servicer.access import AccessGuard
from gateway.servicer.served import served_services
from gateway.switches.switching import Switching
from gateway.workspaces import WorkspaceSettings
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.gateway_services.glossary import FakeGlossaryStore
from tests.fakes.gateway_services.jobs import FakeJobs
from tests.fakes.gateway_services.keys import FakeKeyStore, grant
from tests.fakes.gateway_services.models import FakeEmbedder, FakeReranker, FakeRewriter
from tests.fakes.gateway_services.roles import FakeIngestion, FakeReembedding
from tests.fakes.gateway_services.spaces import SPACE
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.gateway_services.switch_rules import FakeRuleStore

WORKSPACES = ("alpha", "beta", "gamma", "delta")
TEAMS = ("rouge", "vert")
DOCUMENTS = 3
WORDS = "retard livraison port douane navire"


def canary_of(workspace: str, team: str) -> str:
    """Returns the word that stands in all a team has, and nowhere else."""
    return f"canari{workspace}{team}"


def document_id(workspace: str, team: str, number: int) -> str:
    """Returns the id of a document of a team."""
    return f"{canary_of(workspace, team)}/{number}.md"


@dataclass(frozen=True)
class Caller:
    """Who calls, and the canaries that may reach him."""

    name: str
    key: ApiKey | None
    own: frozenset[str]


@dataclass
class CanaryBase:
    """Both doors, the callers, and what was measured."""

    channel: grpc.aio.Channel
    http: httpx.AsyncClient
    callers: list[Caller]
    metrics: Metrics
    keys: FakeKeyStore
    ring: KeyRing


@asynccontextmanager
async def canary_base(folder: Path) -> AsyncIterator[CanaryBase]:
    """Serves the base while inside."""
    secret = folder / "claims"
    secret.write_text("s" * 64)
    store, metrics = FakeKeyStore(), Metrics()
    ring = KeyRing(store, pause_s=0.0)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            running_retriever(
                RetrieverSettings(
                    port=0,
                    management_port=0,
                    metrics_port=0,
                    data_folder=folder / "store",
                    claim_secret_file=secret,
                )
            )
        )
        channel = await stack.enter_async_context(open_channel(server.address, metrics=metrics))
        glossaries = GlossaryBoard(FakeGlossaryStore())
        await _fill(retriever_over(channel, secret, action_of_ingestion), glossaries)
        callers = _callers(store)
        await ring.refresh()
        application = _application(
            retriever_over(channel, secret, action_of_call),
            glossaries,
            folder,
            Access(ring),
            Keys(store, ring),
        )
        gateway = await stack.enter_async_context(
            running_server(
                served_services(application),
                ServerSettings(drain_grace_s=0.0),
                metrics=metrics,
                guard=AccessGuard(application.access),
            )
        )
        door = await stack.enter_async_context(grpc.aio.insecure_channel(gateway.address))
        transport = httpx.ASGITransport(http_door(application, metrics))
        http = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://gateway.test")
        )
        yield CanaryBase(door, http, callers, metrics, store, ring)


def _application(
    retriever: RetrieverClient, glossaries: GlossaryBoard, folder: Path, access: Access, keys: Keys
) -> Application:
    embedder = FakeEmbedder()
    services = Services(
        FakeRewriter(rewritten=f"{WORDS} facture"),
        embedder,
        retriever,
        FakeReranker(),
        FakeIngestion(),
        FakeJobs(held=True),
        FakeReembedding(),
    )
    switches = Switching(SwitchDatabase(folder / "switches.sqlite").board(), FakeRuleStore())
    return assembled(services, switches, glossaries, Mesh([], embedder), access, keys)


def _callers(store: FakeKeyStore) -> list[Caller]:
    callers = [Caller("nobody", None, frozenset())]

    def add(name: str, key: ApiKey, *own: str) -> None:
        callers.append(Caller(name, key, frozenset(own)))

    for workspace in WORKSPACES:
        every = [canary_of(workspace, team) for team in TEAMS]
        add(f"{workspace} reader", store.give(grant(workspace, Action.READ)), *every)
        add(f"{workspace} writer", store.give(grant(workspace, Action.WRITE)), *every)
        add(f"{workspace} admin", store.give(grant(workspace, Action.ADMIN)), *every)
        for team in TEAMS:
            bound = Equals("metadata.team", team)
            both = grant(workspace, Action.READ, Action.WRITE, only=bound)
            add(f"{workspace} {team}", store.give(both), canary_of(workspace, team))
    rest = [canary_of(w, t) for w in WORKSPACES[1:] for t in TEAMS]
    narrowed = grant("alpha", Action.READ, only=Equals("metadata.team", TEAMS[0]))
    add(
        "all but a part",
        store.give(grant("*", Action.READ), narrowed),
        canary_of("alpha", TEAMS[0]),
        *rest,
    )
    return callers


async def _fill(retriever: RetrieverClient, glossaries: GlossaryBoard) -> None:
    for workspace in WORKSPACES:
        await retriever.create_workspace(workspace, WorkspaceSettings("fr", "structure", "default"))
        # A glossary is the workspace's, and no team's: only whole grants see it.
        entry = GlossaryEntry(canary_of(workspace, TEAMS[0]), (canary_of(workspace, TEAMS[1]),))
        await glossaries.change(workspace, putting([entry], ("fr",)))
        for team in TEAMS:
            canary = canary_of(workspace, team)
            for number in range(DOCUMENTS):
                await retriever.upsert_document(
                    workspace,
                    Document(
                        document_id(workspace, team, number),
                        title=f"{canary} {number}",
                        keywords=(canary,),
                        source_uri=f"file:///{canary}",
                        category=canary,
                        metadata={"team": team, "note": canary},
                        content_hash=str(number),
                    ),
                    [Passage(0, f"{WORDS} {canary}", embedded_text_hash=canary)],
                    [VectorBlock(SPACE.space_id, np.eye(1, 4, dtype=np.float32))],
                )
