"""Making, listing and revoking keys."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound, ServiceError, Unavailable
from gateway.access.api_key import new_api_key
from gateway.access.bootstrap_key import BootstrapKey
from gateway.access.grants import Action, Grant
from gateway.access.identity import Identity, acting_as
from gateway.access.key_ring import KeyRing
from gateway.access.keys import Keys
from gateway.filters import AllOf, Equals, FieldExists, Filter, InRange, Negation, OneOf
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT, NOW, FakeKeyStore, grant

READ_HR = grant("hr", Action.READ)


def keys_over(store: FakeKeyStore, bootstrap: BootstrapKey | None = None) -> Keys:
    """Returns the keys of a store, under a wall clock that stands still."""
    ring = KeyRing(store, bootstrap, pause_s=0.0, now=lambda: NOW)
    return Keys(store, ring, now=lambda: NOW)


async def test_a_key_is_shown_once_and_says_who_made_it() -> None:
    """Its text is in the answer to its making, and in no log line, list or record."""
    store = FakeKeyStore()
    keys = keys_over(store)

    with capture_logs() as lines, acting_as(Identity("jst_4f1c09ab12cd", "ops")):
        created = await keys.create("all", [EVERYTHING_GRANT])
        listed = await keys.list_all()

    assert listed == (created.record,)
    assert created.record.creator == "jst_4f1c09ab12cd (ops)"
    secret = created.key.text.removeprefix(created.key.prefix)[1:]
    assert secret not in repr((created, listed, store.records, lines))
    assert created.key.prefix in repr(lines)


async def test_the_first_key_must_be_able_to_make_others() -> None:
    """It closes the gateway: a lesser one would lock everybody out, for good."""
    keys = keys_over(FakeKeyStore())
    lesser = [
        READ_HR,
        grant("hr", Action.ADMIN),
        grant("*", Action.READ, Action.WRITE),
        grant("*", Action.ADMIN, only=Equals("category", "a")),
    ]

    for refused in lesser:
        with pytest.raises(FailedPrecondition) as error:
            await keys.create("first", [refused])
        assert error.value.reason == "FIRST_KEY"
    await keys.create("first", [EVERYTHING_GRANT])

    assert (await keys.create("second", [READ_HR])).record.grants.of("hr") == READ_HR


async def test_after_a_bootstrap_key_any_key_may_come_first(tmp_path: Path) -> None:
    """The bootstrap key is listed, and ends by its file alone."""
    (tmp_path / "key").write_text(new_api_key().text)
    bootstrap = BootstrapKey(tmp_path / "key")
    assert bootstrap.record is not None
    keys = keys_over(FakeKeyStore(), bootstrap)

    await keys.create("first", [READ_HR])

    assert [record.name for record in await keys.list_all()] == ["bootstrap", "first"]
    with pytest.raises(FailedPrecondition, match="file"):
        await keys.revoke(bootstrap.record.prefix)


@pytest.mark.parametrize(
    ("name", "grants", "field"),
    [
        ("", [READ_HR], "name"),
        ("x" * 101, [READ_HR], "name"),
        ("a\nb", [READ_HR], "name"),
        ("one", [], "grants"),
        ("one", [grant(f"w{n}", Action.READ) for n in range(101)], "grants"),
        ("one", [grant("HR", Action.READ)], "grants[0].workspace"),
        ("one", [grant("", Action.READ)], "grants[0].workspace"),
        ("one", [grant("hr")], "grants[0].actions"),
        ("one", [READ_HR, grant("hr", Action.WRITE)], "grants[1].workspace"),
        ("one", [grant("hr", Action.READ, only=AllOf(()))], "grants[0].filter.all_of.filters"),
        *(
            ("one", [grant("hr", Action.READ, only=Negation(wrong))], "grants[0].filter")
            for wrong in (
                Equals("team", "a"),
                FieldExists("metadata."),
                Equals("category", 5.0),
                OneOf("superseded", (True, "true")),
                Equals("valid_at", "2026-05-04"),
                InRange("metadata.open", at_least=True),
                InRange("metadata.x", at_least="a", less_than=5.0),
            )
        ),
        (
            "one",
            [grant("hr", Action.READ, only=OneOf("category", ("x" * 100,) * 1000))],
            "grants",
        ),
    ],
)
async def test_what_cannot_be_a_key_is_refused_by_field(
    name: str, grants: list[Grant], field: str
) -> None:
    """And nothing is kept."""
    store = FakeKeyStore()

    with pytest.raises(InvalidArgument) as error:
        await keys_over(store).create(name, grants)

    assert [violation.field for violation in error.value.violations] == [field]
    assert store.records == {}


async def test_a_filter_leaves_room_for_what_searches_ask() -> None:
    """Beside their own conditions it stands one level deeper than in the grant."""
    deep: Filter = Equals("category", "a")
    for _ in range(6):
        deep = Negation(deep)
    keys = keys_over(FakeKeyStore())
    await keys.create("first", [EVERYTHING_GRANT])

    await keys.create("one", [grant("hr", Action.READ, only=deep)])
    with pytest.raises(InvalidArgument, match="nested"):
        await keys.create("one", [grant("hr", Action.READ, only=Negation(deep))])


async def test_a_key_expires_in_the_future() -> None:
    """One that is over already would be no key."""
    keys = keys_over(FakeKeyStore())

    with pytest.raises(InvalidArgument, match="future"):
        await keys.create("one", [EVERYTHING_GRANT], NOW)
    created = await keys.create("one", [EVERYTHING_GRANT], NOW + timedelta(seconds=1))

    assert created.record.valid_at(NOW)
    assert not created.record.valid_at(NOW + timedelta(seconds=1))


async def test_revoking_names_the_prefix_and_nothing_else() -> None:
    """A whole key is not repeated in the answer; a second time changes nothing."""
    store = FakeKeyStore()
    keys = keys_over(store)
    created = await keys.create("one", [EVERYTHING_GRANT])

    with pytest.raises(InvalidArgument) as error:
        await keys.revoke(created.key.text)
    assert created.key.text not in error.value.message
    with pytest.raises(NotFound):
        await keys.revoke("jst_000000000000")
    first = await keys.revoke(created.key.prefix)

    assert first.revoke_time == NOW
    assert await keys.revoke(created.key.prefix) == first


async def test_a_lost_database_is_named() -> None:
    """Nothing is made that would be forgotten."""
    store = FakeKeyStore()
    keys = keys_over(store)
    await keys.create("one", [EVERYTHING_GRANT])
    store.lost = True
    calls = (
        keys.create("two", [READ_HR]),
        keys.list_all(),
        keys.revoke("jst_000000000000"),
    )

    for call in calls:
        with pytest.raises(ServiceError) as error:
            await call
        assert isinstance(error.value, Unavailable)
