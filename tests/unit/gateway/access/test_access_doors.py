"""Every RPC and every route lets in whom its grant lets in, and shows others nothing."""

from __future__ import annotations

from typing import Any

from gateway.access.api_key import ApiKey, new_api_key
from gateway.access.grants import Action
from gateway.access.needs import Reach
from gateway.filters import Equals
from tests.fakes.gateway_services.calls import of_reach, rpcs
from tests.fakes.gateway_services.doors import Doors, Outcome, name_of
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT, grant

THERE = "negoce"
NOT_THERE = "missing"


def outcomes_but(expected: set[Any], found: dict[str, Any]) -> dict[str, Any]:
    """Returns what came out otherwise than expected, by call."""
    return {name: outcome for name, outcome in found.items() if outcome not in expected}


async def test_without_a_valid_key_nothing_is_served(doors: Doors) -> None:
    """Whatever is asked of whichever workspace; a wrong key is answered as an unknown one."""
    known = next(iter(doors.mesh.key_store.records))
    other = new_api_key()
    wrong_secret = ApiKey(known, known + other.text.removeprefix(other.prefix))
    revoked = doors.mesh.key_store.give(EVERYTHING_GRANT)
    doors.mesh.key_store.end(revoked)
    missing: set[Outcome] = set()
    invalid: set[Outcome] = set()

    for call in of_reach(Reach.ANY_KEY, Reach.WORKSPACE, Reach.EVERYTHING):
        for workspace in (THERE, NOT_THERE):
            missing.add(await doors.try_out(call, workspace, None))
        for key in (other, wrong_secret, revoked):
            invalid.add(await doors.try_out(call, THERE, key))

    assert [each[:2] for each in missing] == [("UNAUTHENTICATED", "KEY_MISSING")]
    assert [each[:2] for each in invalid] == [("UNAUTHENTICATED", "KEY_NOT_VALID")]
    assert doors.work_done() == 0


async def test_a_foreign_workspace_is_one_that_is_not_there(doors: Doors) -> None:
    """Same status, reason and text but for the name, and no work by which time would tell."""
    key = doors.mesh.key_store.give(grant("mine", Action.ADMIN))
    found = {}

    for call in of_reach(Reach.WORKSPACE):
        there = await doors.try_out(call, THERE, key)
        status, reason, text = await doors.try_out(call, NOT_THERE, key)
        assert there == (status, reason, text.replace(NOT_THERE, THERE)), name_of(call)
        if call.need.creates:
            assert there[0] == "PERMISSION_DENIED"
        else:
            found[name_of(call)] = there

    expected = ("NOT_FOUND", "WORKSPACE_NOT_FOUND", f"there is no workspace '{THERE}'")
    assert outcomes_but({expected}, found) == {}
    assert doors.work_done() == 0


async def test_a_grant_that_lacks_the_action_is_refused_by_name(doors: Doors) -> None:
    """In a workspace that the caller may know of, and before any work."""
    for call in of_reach(Reach.WORKSPACE):
        action = call.need.action
        if action is None:
            continue
        others = [each for each in Action if each not in (action, Action.ADMIN)]
        elsewhere = grant("elsewhere", Action.ADMIN)
        for grants in ((grant(THERE, *others), elsewhere), (grant(THERE, *others),)):
            key = doors.mesh.key_store.give(*grants)
            status, reason, text = await doors.try_out(call, THERE, key)
            assert (status, reason) == ("PERMISSION_DENIED", "NOT_GRANTED"), name_of(call)
            assert action.value in text
    assert doors.work_done() == 0


async def test_a_grant_of_the_action_is_enough(doors: Doors) -> None:
    """Of this workspace alone; what the services then say of the request is another matter."""
    found = {}

    for call in of_reach(Reach.WORKSPACE):
        doors.mesh.retriever.add_workspace(THERE)
        key = doors.mesh.key_store.give(grant(THERE, call.need.action or Action.READ))
        status, reason, _ = await doors.try_out(call, THERE, key)
        found[name_of(call)] = status, reason

    refusals = {
        name: outcome
        for name, outcome in found.items()
        if outcome[0] in {"UNAUTHENTICATED", "PERMISSION_DENIED"}
        or outcome[1] == "WORKSPACE_NOT_FOUND"
    }
    assert refusals == {}
    assert doors.work_done() > len(found) / 2


async def test_a_bounded_grant_does_nothing_to_the_whole(doors: Doors) -> None:
    """Nor does it see what is not said of single documents."""
    bounded = grant(THERE, Action.ADMIN, only=Equals("category", "a"))
    key = doors.mesh.key_store.give(bounded)
    whole = [each for each in of_reach(Reach.WORKSPACE) if each.need.whole]

    found = {name_of(each): (await doors.try_out(each, THERE, key))[:2] for each in whole}

    assert outcomes_but({("PERMISSION_DENIED", "NOT_GRANTED")}, found) == {}
    assert len(found) > 20
    assert doors.work_done() == 0


async def test_the_installation_is_for_unbounded_admins_of_all(doors: Doors) -> None:
    """Admins of single workspaces, and of parts of all, are none."""
    lesser = doors.mesh.key_store.give(grant(THERE, Action.ADMIN))
    bounded = doors.mesh.key_store.give(grant("*", Action.ADMIN, only=Equals("category", "a")))
    full = doors.mesh.key_store.give(EVERYTHING_GRANT)
    calls = list(of_reach(Reach.EVERYTHING))

    for key in (lesser, bounded):
        found = {name_of(each): (await doors.try_out(each, THERE, key))[:2] for each in calls}
        assert outcomes_but({("PERMISSION_DENIED", "NOT_GRANTED")}, found) == {}
    assert doors.work_done() == 0

    allowed = {name_of(each): (await doors.try_out(each, THERE, full))[:2] for each in calls}
    assert outcomes_but({("OK", ""), ("NOT_FOUND", "KEY_NOT_FOUND")}, allowed).keys() == {
        # Their requests are empty.
        "/justesse.gateway.v1.KeyService/CreateKey",
        "/justesse.gateway.v1.KeyService/RevokeKey",
        "/justesse.gateway.v1.SwitchService/SetSwitch",
        "/justesse.gateway.v1.SwitchService/SetSwitchRollout",
        "/justesse.gateway.v1.SwitchService/ClearSwitchRollout",
        # Its body is that of a switch, without a share.
        "PUT /v1/switches/{key}/rollout",
    }


async def test_health_and_documentation_need_no_key(doors: Doors) -> None:
    """And tell nothing of this installation."""
    found = {
        name_of(each): (await doors.try_out(each, THERE, None))[:2]
        for each in of_reach(Reach.NOBODY)
    }

    assert outcomes_but({("OK", ""), ("NOT_FOUND", "ROUTE_NOT_FOUND")}, found) == {}
    ready = (await doors.http.get("/readyz")).json()
    assert (ready["ready"], ready["retriever"]["address"]) == (True, "")


async def test_unknown_routes_are_not_told_from_known_ones(doors: Doors) -> None:
    """Before there is a key; after that they are answered as ever."""
    headers = {"Authorization": f"Bearer {doors.mesh.key_store.give(EVERYTHING_GRANT).text}"}

    assert (await doors.http.get("/v1/nothing")).status_code == 401
    assert (await doors.http.get("/v1/nothing", headers=headers)).status_code == 404
    assert (await doors.http.put("/v1/search", headers=headers)).status_code == 405


async def test_only_granted_workspaces_are_listed(doors: Doors) -> None:
    """The list of who may see one looks as if there were no other."""
    doors.mesh.retriever.add_workspace("hidden")
    key = doors.mesh.key_store.give(grant(THERE, Action.WRITE))
    nothing = doors.mesh.key_store.give(grant("elsewhere", Action.READ))

    for held, expected in ((key, [THERE]), (nothing, [])):
        headers = {"Authorization": f"Bearer {held.text}"}
        listed = (await doors.http.get("/v1/workspaces", headers=headers)).json()
        assert [each["slug"] for each in listed["workspaces"]] == expected
        (rpc,) = (each for each in rpcs() if each.method.name == "ListWorkspaces")
        metadata = (("authorization", f"Bearer {held.text}"),)
        (answer,) = await rpc.call(doors.channel, "", metadata)
        assert [each.slug for each in answer.workspaces] == expected  # type: ignore[attr-defined]


async def test_a_workspace_that_is_named_twice_is_refused(doors: Doors) -> None:
    """The one that is checked is the one that is used."""
    key = doors.mesh.key_store.give(grant("mine", Action.READ))
    headers = {"Authorization": f"Bearer {key.text}"}

    for pair in (("mine", THERE), (THERE, "mine")):
        query = "&".join(f"workspace={each}" for each in pair)
        answer = await doors.http.get(f"/v1/documents?{query}", headers=headers)
        assert answer.status_code == 400
    assert doors.work_done() == 0


async def test_a_json_body_with_two_workspaces_is_checked_as_it_is_used(doors: Doors) -> None:
    """Of a name that comes twice one value counts, for the check and for the search."""
    key = doors.mesh.key_store.give(grant("mine", Action.READ))
    headers = {"Authorization": f"Bearer {key.text}", "Content-Type": "application/json"}

    for pair in (("mine", THERE), (THERE, "mine")):
        body = f'{{"workspace": "{pair[0]}", "workspace": "{pair[1]}", "query": "retards"}}'
        answer = await doors.http.post("/v1/search", content=body, headers=headers)
        assert answer.status_code in {400, 404}
    assert all(search.workspace == "mine" for search in doors.mesh.retriever.searches)
