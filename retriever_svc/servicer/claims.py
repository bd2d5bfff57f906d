"""Checks that calls carry a claim for what they ask, so that one mistaken caller sees nothing."""

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from operator import attrgetter
from typing import Any

from chassis.entrance import Metadata
from chassis.signed_claims import METADATA_KEY, SignedClaims, claim_refused
from retriever_svc.needed_claims import EVERY_WORKSPACE, NEEDED_CLAIMS

# The contract is no secret.
_UNCLAIMED = frozenset({"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"})

_subject: ContextVar[str] = ContextVar("claimed_workspace")


class ClaimGuard:
    """Implements the `Guard` of the retriever's server."""

    def __init__(self, claims: SignedClaims) -> None:
        self._claims = claims
        self._workspaces = {
            method: attrgetter(needed.place)
            for method, needed in NEEDED_CLAIMS.items()
            if needed.place
        }

    async def admit(self, method: str, metadata: Metadata) -> None:
        """Checks signature, expiry and action before the request is read."""
        if method in _UNCLAIMED:
            return
        sent = [value for key, value in metadata if key == METADATA_KEY]
        if len(sent) != 1 or not isinstance(sent[0], str):
            raise claim_refused(
                "is missing; give the gateway and its ingestion role the CLAIM_SECRET_FILE that "
                "the retriever has"
            )
        claim = self._claims.read(sent[0])
        needed = NEEDED_CLAIMS.get(method)
        if needed is None or claim.action not in needed.actions:
            raise claim_refused(f"is for {claim.action!r}, which does not include this")
        if not needed.place and claim.subject != EVERY_WORKSPACE:
            raise claim_refused("is for one workspace, and this concerns all")
        _subject.set(claim.subject)

    def check(self, method: str, message: Any) -> None:
        """Checks the workspace that a message names; of a stream the first one does."""
        workspace_of = self._workspaces.get(method)
        if workspace_of is None or (
            NEEDED_CLAIMS[method].place.startswith("header.") and not message.HasField("header")
        ):
            return
        if workspace_of(message) != _subject.get():
            raise claim_refused("is for another workspace")

    def during(self) -> AbstractContextManager[None]:
        """Claims are checked once."""
        return nullcontext()
