"""API keys and their grants in JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field

from gateway.access.grants import Action, Grant
from gateway.access.key_record import KeyRecord
from gateway.access.keys import CreatedKey
from gateway.http.models.filters import FilterBody, filter_from, to_filter_body
from gateway.http.models.values import RequestBody

ActionName = Annotated[
    Action, BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
]


class GrantBody(RequestBody):
    """Allows actions in one workspace, or in all that no other grant of the key names."""

    workspace: str = Field(description="slug of the workspace; * for all")
    actions: list[ActionName] = Field(description="read, write, admin; admin includes the others")
    filter: FilterBody | None = Field(
        default=None, description="documents that are there for the holder of the key; absent: all"
    )

    def grant(self) -> Grant:
        """Returns the grant."""
        bound = None if self.filter is None else filter_from(self.filter)
        return Grant(self.workspace, frozenset(self.actions), bound)


class CreateKeyBody(RequestBody):
    """A key that is wanted."""

    name: str = Field(description="what it is for; 1 to 100 characters")
    grants: list[GrantBody] = Field(description="1 to 100, one for each workspace")
    expire_time: AwareDatetime | None = Field(
        default=None, description="when it ends by itself; absent: never"
    )


class KeyBody(BaseModel):
    """A key without its text; `creator` made it."""

    prefix: str
    name: str
    grants: list[GrantBody]
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None
    creator: str


class CreatedKeyBody(BaseModel):
    """A new key; its text cannot be shown again."""

    api_key: str = Field(description="to be sent as 'Authorization: Bearer KEY'")
    key: KeyBody


class KeysBody(BaseModel):
    """Keys, the latest first."""

    keys: list[KeyBody]


def to_key_body(record: KeyRecord) -> KeyBody:
    """Writes what is kept of a key, without what its secret could be checked by."""
    return KeyBody(
        prefix=record.prefix,
        name=record.name,
        grants=[
            GrantBody(
                workspace=grant.workspace,
                actions=[action for action in Action if action in grant.actions],
                filter=None if grant.filter is None else to_filter_body(grant.filter),
            )
            for grant in record.grants.by_workspace.values()
        ],
        create_time=record.create_time,
        expire_time=record.expire_time,
        revoke_time=record.revoke_time,
        creator=record.creator,
    )


def to_created_key_body(created: CreatedKey) -> CreatedKeyBody:
    """Writes a new key."""
    return CreatedKeyBody(api_key=created.key.text, key=to_key_body(created.record))
