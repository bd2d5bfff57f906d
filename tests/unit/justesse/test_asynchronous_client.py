"""The asyncio client, and what only real sockets show, against a gateway in memory."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chassis.errors import Unavailable
from justesse.client import (
    AlreadyExistsError,
    AsyncJustesse,
    IngestionOutcome,
    Justesse,
    NotFoundError,
    ServiceHealth,
    SwitchOrigin,
    TimeoutExceededError,
    UnavailableError,
)
from justesse.client.uploads import PART_BYTES
from tests.fakes.fake_gateway import SPACE, GatewayState, fake_gateway


@pytest.fixture
def state() -> GatewayState:
    """What the gateway holds."""
    return GatewayState()


@pytest.fixture
async def address(state: GatewayState) -> AsyncIterator[str]:
    """Address of a running gateway."""
    async with fake_gateway(state) as listening:
        yield listening


@pytest.fixture
async def justesse(address: str) -> AsyncIterator[AsyncJustesse]:
    """A client of it, with the workspace "demo"."""
    async with AsyncJustesse(address) as client:
        await client.create_workspace("demo")
        yield client


async def test_workspace_lives_and_ends(justesse: AsyncJustesse) -> None:
    """A workspace is listed and described until it is deleted."""
    assert [workspace.slug for workspace in await justesse.list_workspaces()] == ["demo"]
    await justesse.ingest("demo", b"text", file_name="a.md")
    workspace = await justesse.describe_workspace("demo")
    assert (workspace.document_count, workspace.passage_count) == (1, 2)
    assert [space.space_id for space in workspace.spaces] == [SPACE]
    deleted = await justesse.delete_workspace("demo")
    assert (deleted.document_count, deleted.passage_count) == (1, 2)
    assert deleted.purge_within_s == 3_600
    with pytest.raises(NotFoundError, match="there is no workspace 'demo'") as raised:
        await justesse.describe_workspace("demo", request_id="r-1")
    assert raised.value.reason == "WORKSPACE_NOT_FOUND"
    assert raised.value.request_id == "r-1"


async def test_second_workspace_of_a_name_is_refused(justesse: AsyncJustesse) -> None:
    """A slug is given once."""
    with pytest.raises(AlreadyExistsError):
        await justesse.create_workspace("demo")


async def test_file_is_sent_in_parts(
    justesse: AsyncJustesse, state: GatewayState, tmp_path: Path
) -> None:
    """A file arrives whole, in parts of bounded size, with what is said about it."""
    content = bytes(range(256)) * 2100
    path = tmp_path / "tarifs.txt"
    path.write_bytes(content)
    result = await justesse.ingest("demo", path, external_id="t-1", metadata={"paid": True})
    taken = state.workspaces["demo"]["t-1"]
    assert result.outcome is IngestionOutcome.CREATED
    assert taken.content == content
    assert taken.part_sizes == [PART_BYTES, PART_BYTES, len(content) - 2 * PART_BYTES]
    assert taken.header.metadata["paid"].bool_value is True


async def test_upload_into_nowhere_is_refused(justesse: AsyncJustesse) -> None:
    """A service that answers before it heard the whole file is heard, whichever comes first: its
    status or the write that fails for it."""
    for _ in range(20):
        with pytest.raises(NotFoundError, match="there is no workspace 'other'") as raised:
            await justesse.ingest("other", bytes(40 * PART_BYTES), file_name="a.txt")
        assert raised.value.reason == "WORKSPACE_NOT_FOUND"


async def test_all_pages_are_iterated(justesse: AsyncJustesse) -> None:
    """The iterator passes every document once, in order, whatever the size of a page."""
    names = [f"{index}.md" for index in range(5)]
    for name in names:
        await justesse.ingest("demo", b"text", file_name=name)
    for page_size in (1, 2, 5, 50):
        documents = [
            each.external_id
            async for each in justesse.iterate_documents("demo", page_size=page_size)
        ]
        assert documents == names
    page = await justesse.list_documents("demo", page_size=2)
    assert (len(page.documents), page.total_count) == (2, 5)


async def test_document_is_read_and_deleted(justesse: AsyncJustesse) -> None:
    """A document is read with its passages; its deletion says whether there was one."""
    await justesse.ingest("demo", b"text", file_name="a.md", keywords=["tarif"])
    found = await justesse.get_document("demo", "a.md")
    assert found.document.keywords == ("tarif",)
    assert [passage.text for passage in found.passages] == ["passage 0", "passage 1"]
    assert found.passages[0].space_ids == (SPACE,)
    assert [passage.sliced_space_ids for passage in found.passages] == [(), (SPACE,)]
    assert [passage.cuts_token for passage in found.passages] == [False, True]
    deletion = await justesse.delete_document("demo", "a.md")
    assert (deletion.deleted, deletion.purge_within_s) == (True, 3_600)
    assert not (await justesse.delete_document("demo", "a.md")).deleted


async def test_switches_are_set_and_refreshed(justesse: AsyncJustesse, state: GatewayState) -> None:
    """A switch takes its new value; a failed refresh is reported, not raised."""
    switch = await justesse.set_switch("rag_reranking_enabled", "false")
    assert (switch.value, switch.origin) == ("false", SwitchOrigin.DATABASE)
    described = await justesse.describe_switches()
    assert (described.refresh_time is not None, described.age_s) == (True, 12.5)
    state.refresh_error = "database is locked"
    refreshed = await justesse.refresh_switches()
    assert (refreshed.refresh_time, refreshed.refresh_error) == (None, "database is locked")


async def test_mesh_is_described(justesse: AsyncJustesse) -> None:
    """Every service's health is typed, and their sum is one word."""
    mesh = await justesse.describe_mesh()
    assert mesh.serving
    assert mesh.services[0].health is ServiceHealth.SERVING
    assert [service.latency_ms for service in mesh.services] == [None, 0.5]
    assert mesh.providers[0].state == "available"


async def test_request_id_reaches_the_service(justesse: AsyncJustesse, state: GatewayState) -> None:
    """The id that the caller chose is the one the service sees, and the receipt repeats it."""
    result = await justesse.search("demo", "Pourquoi des retards ?", request_id="r-9")
    assert state.request_ids[-1] == result.receipt.request_id == "r-9"


async def test_reads_are_tried_again_and_writes_are_not(
    justesse: AsyncJustesse, state: GatewayState
) -> None:
    """A service that is away costs a read three tries; a call that changes data is sent once."""
    state.failures = {name: Unavailable("not now") for name in ("SearchPassages", "DeleteDocument")}
    for call, tries in (
        (justesse.search("demo", "q"), 3),
        (justesse.delete_document("demo", "a.md"), 1),
    ):
        state.request_ids.clear()
        with pytest.raises(UnavailableError, match="not now"):
            await call
        assert len(state.request_ids) == tries


async def test_nobody_there(unused_tcp_port: int) -> None:
    """An address where nothing listens is named in the error."""
    async with AsyncJustesse(f"127.0.0.1:{unused_tcp_port}") as client:
        with pytest.raises(
            UnavailableError, match=f"no service can be reached at 127.0.0.1:{unused_tcp_port}"
        ):
            await client.list_workspaces(timeout=20)


async def test_time_out_is_kept(justesse: AsyncJustesse, state: GatewayState, address: str) -> None:
    """A call that is not answered ends after the time it was given, and says so."""
    state.silent = True
    with pytest.raises(TimeoutExceededError, match=rf"no answer from {address} within 0\.05 s"):
        await justesse.search("demo", "q", timeout=0.05)


async def test_no_time_left_is_no_endless_wait(justesse: AsyncJustesse) -> None:
    """A time-out of 0, as left over from a budget, ends the call and does not unbind it."""
    with pytest.raises(TimeoutExceededError, match="no time is left"):
        await justesse.search("demo", "q", timeout=0)


async def test_cancelled_upload_stays_cancelled(justesse: AsyncJustesse) -> None:
    """Cancellation passes through as asyncio's own and leaves nothing behind."""
    task = asyncio.create_task(justesse.ingest("demo", bytes(100 * PART_BYTES), file_name="a.txt"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class TornFile(io.BytesIO):
    """A file whose second part cannot be read."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Fails once something was read."""
        if self.tell():
            raise OSError("disk error")
        return super().read(size)


@pytest.fixture
def torn_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of a file that fails while it is read."""
    monkeypatch.setattr(Path, "open", lambda *_: TornFile(bytes(2 * PART_BYTES)))
    return tmp_path / "torn.txt"


async def test_torn_file_is_never_taken_in(
    justesse: AsyncJustesse, state: GatewayState, address: str, torn_path: Path
) -> None:
    """A read that fails half-way reaches the caller, and the service never sees a whole file."""
    with pytest.raises(OSError, match="disk error"):
        await justesse.ingest("demo", torn_path)
    with Justesse(address) as synchronous, pytest.raises(OSError, match="disk error"):
        await asyncio.to_thread(synchronous.ingest, "demo", torn_path)
    assert state.workspaces["demo"] == {}
