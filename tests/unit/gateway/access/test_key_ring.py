"""Valid keys are known, ended ones are not, and a lost database opens nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from chassis.binding import StartError
from chassis.errors import ServiceError, Unauthenticated, Unavailable
from gateway.access.api_key import ApiKey, new_api_key
from gateway.access.bootstrap_key import BootstrapKey
from gateway.access.identity import acting_as
from gateway.access.key_ring import KeyRing
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT, NOW, FakeKeyStore

GRACE_S = 300.0


@pytest.fixture
def store() -> FakeKeyStore:
    """A store without keys."""
    return FakeKeyStore()


@pytest.fixture
def clock() -> FakeClock:
    """A clock that sleeping moves on."""
    return FakeClock(auto=True)


def ring_over(
    store: FakeKeyStore, clock: FakeClock, bootstrap: BootstrapKey | None = None
) -> KeyRing:
    """Returns a ring whose wall clock goes with its other one."""
    begun = clock()
    return KeyRing(
        store,
        bootstrap,
        grace_s=GRACE_S,
        clock=clock,
        sleep=clock.sleep,
        now=lambda: NOW + timedelta(seconds=clock() - begun),
    )


async def outcome(ring: KeyRing, key: ApiKey) -> str:
    """Returns the name of the key's record, or the reason why there is none."""
    try:
        return (await ring.record_of(key)).name
    except ServiceError as error:
        return f"{type(error).__name__} {error.reason}"


async def test_a_known_key_asks_no_database(store: FakeKeyStore, clock: FakeClock) -> None:
    """A thousand calls cost not one reading."""
    key = store.give(EVERYTHING_GRANT)
    ring = ring_over(store, clock)
    await ring.refresh()

    for _ in range(1000):
        assert await outcome(ring, key) == "test"

    assert store.readings == 1


async def test_a_key_made_elsewhere_works_at_once(store: FakeKeyStore, clock: FakeClock) -> None:
    """Also right after a reading that did not know it yet."""
    ring = ring_over(store, clock)
    await ring.refresh()
    key = store.give(EVERYTHING_GRANT)

    assert await outcome(ring, key) == "test"


async def test_a_key_revoked_elsewhere_ends_with_the_next_reading(
    store: FakeKeyStore, clock: FakeClock
) -> None:
    """And an expired one at its moment, without any."""
    revoked = store.give(EVERYTHING_GRANT)
    expiring = store.give(EVERYTHING_GRANT, expire_time=NOW + timedelta(seconds=60))
    ring = ring_over(store, clock)
    await ring.refresh()

    store.end(revoked)
    await ring.refresh()
    clock.now += 59
    assert await outcome(ring, revoked) == "Unauthenticated KEY_NOT_VALID"
    assert await outcome(ring, expiring) == "test"
    clock.now += 1

    assert await outcome(ring, expiring) == "Unauthenticated KEY_NOT_VALID"


async def test_an_unknown_key_and_a_wrong_secret_take_the_same_way(
    store: FakeKeyStore, clock: FakeClock
) -> None:
    """Same answer, same readings, same waits: neither tells whether a prefix exists."""
    known = store.give(EVERYTHING_GRANT)
    other = new_api_key()
    wrong_secret = ApiKey(known.prefix, known.prefix + other.text.removeprefix(other.prefix))
    traces = []
    for key in (other, wrong_secret):
        ring = ring_over(store, clock)
        await ring.refresh()
        store.readings, clock.slept = 0, []
        answers = [await outcome(ring, key) for _ in range(3)]
        traces.append((answers, store.readings, [round(s, 6) for s in clock.slept]))

    assert traces[0] == traces[1]
    assert traces[0][0] == ["Unauthenticated KEY_NOT_VALID"] * 3


async def test_guesses_do_not_press_the_database(store: FakeKeyStore, clock: FakeClock) -> None:
    """A thousand at once wait for the same readings, whose number does not grow with theirs."""
    store.give(EVERYTHING_GRANT)
    ring = ring_over(store, clock)
    await ring.refresh()
    store.readings = 0

    answers = await asyncio.gather(*(outcome(ring, new_api_key()) for _ in range(1000)))

    assert set(answers) == {"Unauthenticated KEY_NOT_VALID"}
    assert store.readings <= 2


async def test_a_lost_database_leaves_known_keys_for_a_while_and_admits_no_other(
    store: FakeKeyStore, clock: FakeClock
) -> None:
    """Nobody can say of an unknown key that it is wrong, so it is UNAVAILABLE."""
    known, unknown = store.give(EVERYTHING_GRANT), new_api_key()
    ring = ring_over(store, clock)
    await ring.refresh()
    store.lost = True

    assert await outcome(ring, unknown) == "Unavailable KEYS_UNREAD"
    clock.now = 1000.0 + GRACE_S
    await ring.refresh()
    assert await outcome(ring, known) == "test"
    clock.now += 1
    assert await outcome(ring, known) == "Unavailable KEYS_UNREAD"

    store.lost = False
    assert await outcome(ring, known) == "test"
    assert await outcome(ring, unknown) == "Unauthenticated KEY_NOT_VALID"


async def test_whether_there_is_a_key_is_not_guessed(store: FakeKeyStore, clock: FakeClock) -> None:
    """A start without the database knows nothing; revoked keys count for ever."""
    store.lost = True
    ring = ring_over(store, clock)
    with pytest.raises(Unavailable):
        await ring.any_ever()

    store.lost = False
    assert not await ring.any_ever()
    key = store.give(EVERYTHING_GRANT)
    store.end(key)
    await ring.refresh()
    assert await ring.any_ever()
    store.records.clear()
    await ring.refresh()
    assert await ring.any_ever()


@pytest.mark.parametrize("end", ["revoked", "lost"])
async def test_the_end_of_a_key_ends_its_calls(
    store: FakeKeyStore, clock: FakeClock, end: str
) -> None:
    """However long they would run; calls with other keys, and without one, go on."""
    ending, staying = store.give(EVERYTHING_GRANT), store.give(EVERYTHING_GRANT)
    ring = ring_over(store, clock)
    await ring.refresh()
    going = asyncio.Barrier(4)

    async def call(key: ApiKey | None) -> None:
        identity = None if key is None else store.records[key.prefix].identity
        with acting_as(identity), ring.running.during():
            await going.wait()
            await asyncio.Event().wait()

    calls = {
        name: asyncio.create_task(call(key))
        for name, key in {"ending": ending, "staying": staying, "nobody": None}.items()
    }
    await going.wait()

    if end == "revoked":
        store.end(ending)
    else:
        store.lost, clock.now = True, clock.now + GRACE_S + 1
    await ring.refresh()

    with pytest.raises(Unauthenticated, match="revoked"):
        await calls["ending"]
    assert not calls["nobody"].done()
    assert calls["staying"].done() == (end == "lost")
    for task in calls.values():
        task.cancel()
    await asyncio.gather(*calls.values(), return_exceptions=True)


async def test_a_caller_who_hangs_up_is_not_told_of_a_key(
    store: FakeKeyStore, clock: FakeClock
) -> None:
    """A cancellation that came from elsewhere stays one."""
    key = store.give(EVERYTHING_GRANT)
    ring = ring_over(store, clock)

    async def call() -> None:
        with acting_as(store.records[key.prefix].identity), ring.running.during():
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_bootstrap_key_is_that_of_its_file(
    store: FakeKeyStore, clock: FakeClock, tmp_path: Path
) -> None:
    """Also without the database; another key in the file replaces it, no file ends it."""
    file = tmp_path / "key"
    first, second = new_api_key(), new_api_key()
    file.write_text(f"{first.text}\n")
    store.lost = True
    ring = ring_over(store, clock, BootstrapKey(file))

    assert await ring.any_ever()
    assert await outcome(ring, first) == "bootstrap"

    file.write_text(second.text)
    await ring.refresh()
    assert await outcome(ring, second) == "bootstrap"
    assert await outcome(ring, first) == "Unavailable KEYS_UNREAD"

    file.unlink()
    await ring.refresh()
    assert await outcome(ring, second) == "Unavailable KEYS_UNREAD"
    assert await ring.any_ever()


@pytest.mark.parametrize(
    "write",
    [
        lambda file: None,
        lambda file: file.write_text(""),
        lambda file: file.write_text("hunter2-secret"),
        lambda file: file.write_bytes(b"\xff" * 100),
        lambda file: file.mkdir(),
    ],
)
def test_a_bootstrap_file_without_a_key_stops_the_start(
    tmp_path: Path, write: Callable[[Path], object]
) -> None:
    """In words that say what to do and do not show what is in it."""
    write(tmp_path / "key")

    with pytest.raises(StartError, match="BOOTSTRAP_KEY_FILE") as refused:
        BootstrapKey(tmp_path / "key")

    assert "hunter2" not in str(refused.value)


async def test_a_record_of_the_database_cannot_stand_in_for_the_bootstrap_key(
    store: FakeKeyStore, clock: FakeClock, tmp_path: Path
) -> None:
    """Whoever can write rows cannot take its prefix over."""
    (tmp_path / "key").write_text(new_api_key().text)
    bootstrap = BootstrapKey(tmp_path / "key")
    assert bootstrap.record is not None
    forged = store.give(EVERYTHING_GRANT)
    forged_record = store.records.pop(forged.prefix)
    store.records[bootstrap.record.prefix] = replace(forged_record, prefix=bootstrap.record.prefix)
    ring = ring_over(store, clock, bootstrap)

    secret = forged.text.removeprefix(forged.prefix)
    answer = await outcome(ring, ApiKey(bootstrap.record.prefix, bootstrap.record.prefix + secret))

    assert answer == "Unauthenticated KEY_NOT_VALID"
