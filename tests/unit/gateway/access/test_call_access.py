"""What a call may do follows from grants and need, and from nothing else."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import NotFound, PermissionDenied, ServiceError
from gateway.access.call_access import (
    CallAccess,
    bind_access,
    mandatory_filter,
    sees_workspace,
)
from gateway.access.grants import EVERYTHING, NOTHING, Action, Grant, Grants
from gateway.access.needs import Need, Reach
from gateway.access.permitted_questions import permitted
from gateway.filters import AllOf, Equals
from gateway.questions import Question
from tests.fakes.gateway_services.keys import grant

ONLY_A = Equals("category", "a")
ASKED = Equals("language", "fr")
WORKSPACES = ("hr", "sales")
ACTION_SETS = [
    frozenset(actions)
    for actions in chain.from_iterable(combinations(Action, count) for count in (1, 2, 3))
]
GRANTS = st.builds(
    Grant,
    st.sampled_from((*WORKSPACES, "*")),
    st.sampled_from(ACTION_SETS),
    st.sampled_from((None, ONLY_A)),
)


def outcome(grants: Grants, need: Need | None, workspace: str) -> str:
    """Returns the class of the refusal, or "" where the call is allowed."""
    access = CallAccess(None, grants, need)
    try:
        access.check_before_reading()
        access.check_workspace(workspace)
    except ServiceError as error:
        return type(error).__name__
    return ""


@given(
    st.lists(GRANTS, max_size=3, unique_by=lambda each: each.workspace),
    st.sampled_from((None, *Action)),
    st.booleans(),
    st.sampled_from(WORKSPACES),
)
def test_exactly_what_is_granted_is_allowed(
    given_grants: list[Grant], action: Action | None, whole: bool, workspace: str
) -> None:
    """The grant that names the workspace decides, else the one for all; nothing adds to it."""
    grants = Grants.of_all(*given_grants)
    named = [each for each in given_grants if each.workspace == workspace]
    general = [each for each in given_grants if each.workspace == "*"]
    deciding = next(iter(named or general), None)
    allowed = (
        deciding is not None
        and (action is None or action in deciding.actions or Action.ADMIN in deciding.actions)
        and not (whole and deciding.filter is not None)
    )

    result = outcome(grants, Need(Reach.WORKSPACE, action, "workspace", whole), workspace)

    assert (result == "") == allowed
    if result == "NotFound":
        assert deciding is None


@given(st.lists(GRANTS, max_size=3, unique_by=lambda each: each.workspace))
def test_the_installation_needs_an_unbounded_admin_grant_for_all(given_grants: list[Grant]) -> None:
    """An admin of workspaces, however many, is none of the installation."""
    grants = Grants.of_all(*given_grants)
    able = any(
        each.workspace == "*" and Action.ADMIN in each.actions and each.filter is None
        for each in given_grants
    )
    access = CallAccess(None, grants, Need(Reach.EVERYTHING))

    if able:
        access.check_before_reading()
    else:
        with pytest.raises(PermissionDenied):
            access.check_before_reading()


def test_what_stands_in_no_table_is_refused_to_everybody() -> None:
    """Also where no keys are needed."""
    assert outcome(EVERYTHING, None, "hr") == "PermissionDenied"
    assert outcome(NOTHING, Need(Reach.WORKSPACE, None, "workspace"), "hr") == "NotFound"


@pytest.mark.parametrize("workspace", ["hr", "missing", "*", "", "HR", "a" * 1_000_000])
def test_a_workspace_without_a_grant_is_one_that_is_not_there(workspace: str) -> None:
    """Whether it is there plays no part, so no answer can tell."""
    access = CallAccess(
        None,
        Grants.of_all(grant("sales", Action.ADMIN)),
        Need(Reach.WORKSPACE, Action.READ, "workspace"),
    )

    with pytest.raises(NotFound) as error:
        access.check_workspace(workspace)

    assert error.value.message == f"there is no workspace {workspace[:80]!r}"
    assert error.value.reason == "WORKSPACE_NOT_FOUND"


async def test_a_mandatory_filter_is_added_to_what_is_asked() -> None:
    """Whatever the call asks for, it never looks beyond its grant."""
    assert permitted(Question("hr", "q", filter=ASKED)).filter == ASKED
    assert permitted(Question("hr", "q")).filter is None
    bind_access(
        CallAccess(
            None,
            Grants.of_all(grant("hr", Action.READ, only=ONLY_A), grant("sales", Action.READ)),
            Need(Reach.WORKSPACE, Action.READ, "workspace"),
        )
    )

    assert permitted(Question("hr", "q", filter=ASKED)).filter == AllOf((ONLY_A, ASKED))
    assert permitted(Question("hr", "q")).filter == mandatory_filter("hr") == ONLY_A
    assert permitted(Question("sales", "q", filter=ASKED)).filter == ASKED
    once = permitted(Question("hr", "q", filter=ASKED))
    assert permitted(once) == once
    assert [sees_workspace(slug) for slug in ("hr", "sales", "other")] == [True, True, False]
    with pytest.raises(NotFound):
        permitted(Question("other", "q", filter=ASKED))


@pytest.mark.parametrize("asked", [Equals("metadata.open", 1.0), Equals("metadata.open", True)])
async def test_a_filter_that_only_looks_like_the_mandatory_one_replaces_nothing(
    asked: Equals,
) -> None:
    """True and 1 are equal in Python, and two values of a document."""
    mandatory = Equals("metadata.open", True)
    grants = Grants.of_all(grant("hr", Action.READ, only=mandatory))
    bind_access(CallAccess(None, grants, Need(Reach.WORKSPACE, Action.READ, "workspace")))

    for sent in (asked, AllOf((asked,)), AllOf((asked, ASKED))):
        bound = permitted(Question("hr", "q", filter=sent)).filter
        assert isinstance(bound, AllOf)
        assert bound.filters[0] is mandatory
