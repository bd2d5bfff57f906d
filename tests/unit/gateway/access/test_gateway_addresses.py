"""A gateway that other machines can reach asks for keys, or somebody has said that it need not."""

from __future__ import annotations

from pathlib import Path

import grpc.aio
import httpx
import pytest

from chassis.binding import StartError
from chassis.metrics import Metrics
from chassis.server_settings import ServerSettings
from gateway.access.access import AccessMode
from gateway.access.addresses import trusted_mode
from gateway.access.api_key import new_api_key
from gateway.access.key_ring import KeyRing
from gateway.service import running_gateway
from gateway.settings import GatewaySettings
from justesse.gateway.v1 import keys_pb2
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT, FakeKeyStore

AUTO, KEYS, OPEN = AccessMode.AUTO, AccessMode.KEYS, AccessMode.OPEN
NOBODY = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("host", "insecure", "mode", "keys", "expected"),
    [
        ("127.0.0.1", False, AUTO, "none", AUTO),
        ("::1", False, OPEN, "none", OPEN),
        ("localhost", False, KEYS, "none", KEYS),
        ("127.0.0.1", False, AUTO, "lost", AUTO),
        ("0.0.0.0", False, AUTO, "none", None),
        ("0.0.0.0", False, OPEN, "some", None),
        ("10.1.2.3", False, AUTO, "some", KEYS),
        ("10.1.2.3", False, AUTO, "revoked", KEYS),
        ("::", False, AUTO, "lost", KEYS),
        ("0.0.0.0", False, KEYS, "none", KEYS),
        ("0.0.0.0", True, AUTO, "none", AUTO),
        ("0.0.0.0", True, OPEN, "some", OPEN),
    ],
)
async def test_an_address_decides_whether_keys_are_needed(
    host: str, insecure: bool, mode: AccessMode, keys: str, expected: AccessMode | None
) -> None:
    """None: the start is refused. A database that is lost, or empty later, opens nothing."""
    store = FakeKeyStore()
    if keys in ("some", "revoked"):
        key = store.give(EVERYTHING_GRANT)
        if keys == "revoked":
            store.end(key)
    store.lost = keys == "lost"
    ring = KeyRing(store, pause_s=0.0)
    await ring.refresh()
    settings = ServerSettings(host=host, insecure=insecure)

    if expected is None:
        with pytest.raises(StartError, match="refusing to listen"):
            await trusted_mode(settings, mode, ring)
    else:
        assert await trusted_mode(settings, mode, ring) is expected


def settings_for(folder: Path, **told: object) -> GatewaySettings:
    """Returns settings on free ports, with nobody behind."""
    return GatewaySettings(
        port=0,
        management_port=0,
        metrics_port=0,
        http_port=0,
        drain_grace_s=0.0,
        database_url=f"sqlite+aiosqlite:///{folder / 'gateway.sqlite'}",
        rewriter_target=NOBODY,
        embedder_target=NOBODY,
        retriever_target=NOBODY,
        reranker_target=NOBODY,
        ingestion_target=NOBODY,
        **told,  # type: ignore[arg-type] # as a test names them
    )


async def test_a_gateway_on_every_address_starts_with_a_bootstrap_key(tmp_path: Path) -> None:
    """It lets nobody in without, and makes the first keys with it."""
    file = tmp_path / "key"
    key = new_api_key()
    file.write_text(key.text)
    settings = settings_for(tmp_path, host="0.0.0.0", bootstrap_key_file=file)
    authorized = (("authorization", f"Bearer {key.text}"),)
    async with running_gateway(settings, metrics=Metrics()) as gateway:
        address = gateway.server.address.replace("0.0.0.0", "127.0.0.1")
        web = gateway.http_address.replace("0.0.0.0", "127.0.0.1")
        async with (
            grpc.aio.insecure_channel(address) as channel,
            httpx.AsyncClient(base_url=f"http://{web}", trust_env=False) as http,
        ):
            make = channel.unary_unary(
                "/justesse.gateway.v1.KeyService/CreateKey",
                request_serializer=keys_pb2.CreateKeyRequest.SerializeToString,
                response_deserializer=keys_pb2.CreateKeyResponse.FromString,
            )
            wanted = keys_pb2.CreateKeyRequest(
                name="reader",
                grants=[keys_pb2.Grant(workspace="w", actions=[keys_pb2.ACTION_READ])],
            )
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await make(wanted)
            made = await make(wanted, metadata=authorized)
            bare = await http.get("/v1/keys")
            headers = {"Authorization": f"Bearer {made.api_key}"}
            lesser = await http.get("/v1/keys", headers=headers)
            large = await http.get("/v1/keys", headers={"Authorization": "Bearer " + "x" * 60_000})

    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert made.key.creator == f"{key.prefix} (bootstrap)"
    assert (bare.status_code, lesser.status_code, large.status_code) == (401, 403, 401)


async def test_a_gateway_on_every_address_does_not_start_without_keys(tmp_path: Path) -> None:
    """The message says what to do."""
    with pytest.raises(StartError, match="JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE"):
        async with running_gateway(settings_for(tmp_path, host="0.0.0.0"), metrics=Metrics()):
            raise AssertionError("it started")


async def test_what_one_gateway_revokes_ends_at_another(tmp_path: Path) -> None:
    """Within the interval in which keys are read, over one database."""
    admin = new_api_key()
    (tmp_path / "key").write_text(admin.text)
    settings = settings_for(tmp_path, bootstrap_key_file=tmp_path / "key", key_refresh_s=0.05)
    headers = {"Authorization": f"Bearer {admin.text}"}
    grants = [{"workspace": "*", "actions": ["admin"]}]
    async with (
        running_gateway(settings, metrics=Metrics()) as one,
        running_gateway(settings, metrics=Metrics()) as other,
        httpx.AsyncClient(base_url=f"http://{one.http_address}", trust_env=False) as here,
        httpx.AsyncClient(base_url=f"http://{other.http_address}", trust_env=False) as there,
    ):
        body = {"name": "n", "grants": grants}
        made = (await here.post("/v1/keys", json=body, headers=headers)).json()
        held = {"Authorization": f"Bearer {made['api_key']}"}
        at_once = await there.get("/v1/keys", headers=held)
        await here.delete(f"/v1/keys/{made['key']['prefix']}", headers=headers)
        status = 200
        for _ in range(10_000):
            status = (await there.get("/v1/keys", headers=held)).status_code
            if status == 401:
                break

    assert at_once.status_code == 200
    assert status == 401
