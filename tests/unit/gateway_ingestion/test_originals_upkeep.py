"""Files of documents that were deleted while the ingestion role was down go all the same."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pytest

from chassis.errors import Unavailable
from gateway.documents import Document, StoredDocument
from gateway.incoming_files import IncomingFile
from gateway.ingestion.originals import DocumentFolder, Originals
from gateway.ingestion.originals_upkeep import OriginalsUpkeep
from gateway.ingestion.received_files import ReceivedFile
from gateway.workspaces import Workspace
from tests.fakes.passage_store import FakePassageStore


@dataclass
class ListedStore(FakePassageStore):
    """Lists the workspaces it holds, unless it is lost."""

    lost: bool = False

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Implements the port."""
        if self.lost:
            raise Unavailable("the retriever does not answer")
        return tuple(self.workspaces.values())


@dataclass
class Shelf:
    """A store with workspace "w", and kept files."""

    folder: Path
    store: ListedStore
    originals: Originals
    upkeep: OriginalsUpkeep

    def keep(self, external_id: str, workspace: str = "w") -> None:
        """Keeps a file, and no document."""
        path = self.folder / "incoming"
        path.write_bytes(external_id.encode())
        received = ReceivedFile(path, hashlib.sha256(path.read_bytes()).hexdigest(), 1)
        self.originals.keep(received, IncomingFile(workspace, external_id), external_id)

    def take_in(self, external_id: str) -> None:
        """Keeps a file and stores its document."""
        self.keep(external_id)
        self.store.documents["w", external_id] = StoredDocument(Document(external_id), 1)

    def kept(self) -> set[tuple[str, str]]:
        """The workspaces and ids, of those the tests know, whose files are there."""
        ids = ("a.md", "b.md", "été.md")
        folders = self.originals.folders()
        return {(w, i) for w in ("w", "gone") for i in ids if DocumentFolder.of(w, i) in folders}


@pytest.fixture(params=["folder", "memory"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """An empty shelf, in a folder and where fsspec reaches."""
    places = {"folder": str(tmp_path / "kept"), "memory": f"memory://{tmp_path.name}"}
    store = ListedStore()
    store.add_workspace("w")
    originals = Originals(places[request.param])
    yield Shelf(tmp_path, store, originals, OriginalsUpkeep(store, originals))
    fsspec.filesystem("memory").store.clear()


async def test_files_without_a_document_go_at_the_second_look(shelf: Shelf) -> None:
    """Those of a deleted document and of a deleted workspace, and no others."""
    for name in ("a.md", "été.md"):
        shelf.take_in(name)
    shelf.keep("b.md")
    shelf.keep("b.md", "gone")
    first = await shelf.upkeep.tidy()
    after_first = shelf.kept()
    second = await shelf.upkeep.tidy()

    assert (first, second) == (0, 2)
    assert len(after_first) == 4
    assert shelf.kept() == {("w", "a.md"), ("w", "été.md")}
    assert await shelf.upkeep.tidy() == 0


async def test_a_document_that_is_being_stored_keeps_its_file(shelf: Shelf) -> None:
    """Its file is there before it is; and one look is not remembered for ever."""
    shelf.keep("a.md")
    await shelf.upkeep.tidy()
    shelf.take_in("a.md")
    await shelf.upkeep.tidy()
    del shelf.store.documents["w", "a.md"]

    assert await shelf.upkeep.tidy() == 0
    assert shelf.kept() == {("w", "a.md")}
    assert await shelf.upkeep.tidy() == 1


async def test_a_store_that_is_lost_or_knows_nothing_costs_no_file(shelf: Shelf) -> None:
    """A retriever with a wrong or empty folder must not take the originals with it."""
    shelf.keep("a.md")
    await shelf.upkeep.tidy()
    shelf.store.lost = True
    with pytest.raises(Unavailable):
        await shelf.upkeep.tidy()
    shelf.store.lost = False
    shelf.store.workspaces.clear()
    for _ in range(3):
        assert await shelf.upkeep.tidy() == 0

    assert shelf.kept() == {("w", "a.md")}


async def test_what_is_no_original_is_left_alone(shelf: Shelf) -> None:
    """Whoever keeps other things at the same place keeps them."""
    root = shelf.originals.place
    files, path = fsspec.core.url_to_fs(root)
    others = ["notes.txt", "gone/notes.txt", f"gone/ab/{'c' * 64}/x.md", f"gone/ab/{'a' * 9}/x.md"]
    for name in others:
        files.makedirs(f"{path}/{name}".rpartition("/")[0], exist_ok=True)
        files.pipe_file(f"{path}/{name}", b"x")
    for _ in range(2):
        await shelf.upkeep.tidy()

    assert all(files.exists(f"{path}/{name}") for name in others)
