"""Known vectors and costs outlive a restart, where a folder is given; nothing else does."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from chassis.binding import EXIT_CONFIG, StartError
from chassis.channel import open_channel
from chassis.cost_ledger import CostLedger
from chassis.metrics import Metrics
from embedder_svc.disk_state import FILE_NAME, DiskState, KeptVector
from embedder_svc.embedding import EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.price import Price
from embedder_svc.service import running_embedder
from embedder_svc.settings import EmbedderSettings
from embedder_svc.spaces import VectorSpace
from embedder_svc.vector_cache import VectorCache
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceStub
from tests.fakes.clock import FakeClock
from tests.fakes.embedding_providers import ScriptedProvider

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
ONE, OTHER = (VectorSpace("p", "m", revision, 4, "l2", "none") for revision in ("1", "2"))
VECTOR, CANARY = np.eye(4, dtype=np.float32)[:2]
DAY_S = 86_400


@contextmanager
def opened(folder: Path) -> Iterator[DiskState]:
    """Opens the folder's state and closes it."""
    with closing(DiskState(folder)) as state:
        yield state


def cache_of(
    disk: DiskState, clock: FakeClock | None = None, canary: Vectors = CANARY
) -> VectorCache:
    """A cache that has admitted the first space."""
    clock = clock or FakeClock()
    cache = VectorCache(10**6, 60.0, clock, clock, disk)
    cache.admit(ONE, canary)
    return cache


def test_vectors_outlive_a_restart(tmp_path: Path) -> None:
    """With what became of their texts; only where their space, purpose and text are asked for."""
    with opened(tmp_path) as disk:
        cache_of(disk).keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3, True, sliced=True))
    with opened(tmp_path) as disk:
        cache = cache_of(disk)
        found = cache.found(ONE, QUERY, "texte")

        assert found is not None
        assert np.array_equal(found.vector, VECTOR)
        assert found.text == EmbeddedText(3, True, sliced=True, cached=True)
        assert cache.found(ONE, DOCUMENT, "texte") is None
        assert cache.found(OTHER, QUERY, "texte") is None


def test_vectors_of_a_model_that_was_exchanged_are_dropped(tmp_path: Path) -> None:
    """They are not served before the canary was compared, and never with another one."""
    with opened(tmp_path) as disk:
        cache_of(disk).keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3))
    with opened(tmp_path) as disk:
        unseen = VectorCache(10**6, 60.0, disk=disk)
        assert unseen.found(ONE, QUERY, "texte") is None
        assert cache_of(disk, canary=VECTOR).found(ONE, QUERY, "texte") is None
    with opened(tmp_path) as disk:
        assert cache_of(disk, canary=VECTOR).found(ONE, QUERY, "texte") is None


def test_age_counts_over_a_restart(tmp_path: Path) -> None:
    """A vector that is too old is not served, by the wall clock."""
    clock = FakeClock(start=5_000.0)
    with opened(tmp_path) as disk:
        cache_of(disk, clock).keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3))
    for later, known in ((59.0, True), (2.0, False)):
        clock.now += later
        with opened(tmp_path) as disk:
            assert (cache_of(disk, clock).found(ONE, QUERY, "texte") is not None) is known


def test_what_is_too_old_leaves_the_disk_though_nobody_asks_for_it(tmp_path: Path) -> None:
    """A deleted text's vector is gone within its time, also where its space is served no more."""
    clock = FakeClock(start=5_000.0)
    with opened(tmp_path) as disk:
        cache = cache_of(disk, clock)
        cache.keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3))
        cache.keep(OTHER, QUERY, "texte", VECTOR, EmbeddedText(3))
        clock.now += 59.0
        cache.keep(ONE, QUERY, "autre", VECTOR, EmbeddedText(3))
        kept = cache.drop_expired()
    clock.now += 2.0
    with opened(tmp_path) as disk:
        dropped = VectorCache(10**6, 60.0, clock, clock, disk).drop_expired()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        left = connection.execute("SELECT space_id, hash FROM vectors").fetchall()

    assert (kept, dropped, len(left)) == (0, 0, 1)


async def test_a_running_embedder_clears_its_folder_of_what_is_too_old(tmp_path: Path) -> None:
    """Without being asked for anything."""
    old = KeptVector(OTHER.id, QUERY, b"hash", 0.0, VECTOR, EmbeddedText(3))
    with opened(tmp_path) as disk:
        disk.keep(old)
    settings = EmbedderSettings(port=0, drain_grace_s=0, data_folder=tmp_path)
    providers = [ScriptedProvider("first")]
    async with running_embedder(settings, providers=providers, metrics=Metrics()):
        await providers[0].checked.acquire()
        await asyncio.sleep(0)
    with opened(tmp_path) as disk:
        assert disk.vectors_of(OTHER.id) == []


def test_what_is_forgotten_is_gone_from_the_disk(tmp_path: Path) -> None:
    """Neither text nor vector can be read from the file."""
    with opened(tmp_path) as disk:
        cache = cache_of(disk)
        cache.keep(ONE, QUERY, "un secret", VECTOR, EmbeddedText(3))
        cache.keep(ONE, QUERY, "autre", VECTOR, EmbeddedText(3))
        assert cache.forget(["un secret"]) == 1
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        left = connection.execute("SELECT COUNT(*) FROM vectors").fetchone()

    assert left == (1,)
    assert b"secret" not in (tmp_path / FILE_NAME).read_bytes()


def test_costs_outlive_a_restart_but_not_the_day(tmp_path: Path) -> None:
    """A cap that was reached stays reached until midnight (UTC)."""
    clock = FakeClock(start=10 * DAY_S + 5)
    with opened(tmp_path) as disk:
        ledger = CostLedger(2.0, clock, disk)
        ledger.add("ventes", 1.5)
        ledger.add("ventes", 0.75)
    with opened(tmp_path) as disk:
        again = CostLedger(2.0, clock, disk)
        assert (again.may_pay("ventes"), again.may_pay("achats")) == (False, True)
        clock.now += DAY_S
        assert again.may_pay("ventes")
    with opened(tmp_path) as disk:
        assert CostLedger(2.0, clock, disk).may_pay("ventes")


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    """The embedder begins anew; the file stays for whoever wants to look."""
    (tmp_path / FILE_NAME).write_bytes(b"SQLite format 3\x00" + b"rubbish" * 400)
    with opened(tmp_path) as disk:
        cache_of(disk).keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3))
    with opened(tmp_path) as disk:
        assert cache_of(disk).found(ONE, QUERY, "texte") is not None

    assert (tmp_path / "embedder.damaged").exists()


def test_a_folder_is_used_by_one_process(tmp_path: Path) -> None:
    """The second is told so; so is one whose folder is a file."""
    (tmp_path / "file").touch()
    with opened(tmp_path):
        for folder in (tmp_path, tmp_path / "file"):
            with pytest.raises(StartError, match="JUSTESSE_EMBEDDER_DATA_FOLDER") as refused:
                DiskState(folder)
            assert refused.value.exit_code == EXIT_CONFIG


async def test_an_embedder_pays_once_for_a_text_over_restarts(tmp_path: Path) -> None:
    """Vectors and cap come back from the folder of its settings."""
    settings = EmbedderSettings(
        port=0, drain_grace_s=0, check_interval_s=0.01, data_folder=tmp_path, daily_cost_cap=2.0
    )
    request = pb.EmbedTextsRequest(texts=["un deux"], workspace="ventes")
    answers, embedded = [], []
    for _ in range(2):
        provider = ScriptedProvider("first")
        provider.price = Price(1e6)
        async with (
            running_embedder(settings, providers=[provider], metrics=Metrics()) as server,
            open_channel(server.address, metrics=Metrics()) as channel,
        ):
            stub = EmbedderServiceStub(channel)
            while (
                not (await stub.DescribeProviders(pb.DescribeProvidersRequest()))
                .providers[0]
                .HasField("canary_vector")
            ):
                await provider.checked.acquire()
            answers.append(await stub.EmbedTexts(request))
        embedded += provider.embedded

    assert embedded == [("un deux",)]
    assert [answer.report.cost for answer in answers] == [2.0, 0.0]
    assert answers[0].vectors == answers[1].vectors
