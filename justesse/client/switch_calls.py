"""The part of the synchronous client that switches features."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from justesse.client import switch_requests
from justesse.client.requests import CallFor, ResultT
from justesse.client.switches import Switch, SwitchChanges, Switches, SwitchRollout


class SwitchCalls(ABC):
    """What a client can do with switches; an override counts before a rollout before a switch."""

    def describe_switches(
        self,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Switches:
        """Lists the switches with the values in force, and the rollouts."""
        return self._answer(switch_requests.describe_switches(), timeout, request_id)

    def set_switch(
        self,
        key: str,
        value: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Switch:
        """Sets a switch; `value` is text: "true", "false" or a number."""
        return self._answer(switch_requests.set_switch(key, value), timeout, request_id)

    def refresh_switches(
        self,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Switches:
        """Has every gateway read the switches now; a database that is silent is no error."""
        return self._answer(switch_requests.refresh_switches(), timeout, request_id)

    def list_switch_overrides(
        self,
        workspace: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Mapping[str, str]:
        """Lists the values that a workspace has for itself, by key."""
        return self._answer(switch_requests.list_switch_overrides(workspace), timeout, request_id)

    def set_switch_override(
        self,
        workspace: str,
        key: str,
        value: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> str:
        """Gives a switch another value in one workspace, and returns it."""
        return self._answer(
            switch_requests.set_switch_override(workspace, key, value), timeout, request_id
        )

    def clear_switch_override(
        self,
        workspace: str,
        key: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> bool:
        """Ends an override; returns whether there was one."""
        return self._answer(
            switch_requests.clear_switch_override(workspace, key), timeout, request_id
        )

    def set_switch_rollout(
        self,
        key: str,
        value: str,
        percent: float,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> SwitchRollout:
        """Gives a switch another value for a share of the queries, over 0 up to 100 percent."""
        return self._answer(
            switch_requests.set_switch_rollout(key, value, percent), timeout, request_id
        )

    def clear_switch_rollout(
        self,
        key: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> bool:
        """Ends a rollout; returns whether there was one."""
        return self._answer(switch_requests.clear_switch_rollout(key), timeout, request_id)

    def list_switch_changes(
        self,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> SwitchChanges:
        """Lists who changed what, the latest first; a page has 50 changes, at most 500."""
        return self._answer(
            switch_requests.list_switch_changes(page_size, page_token), timeout, request_id
        )

    @abstractmethod
    def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT: ...
