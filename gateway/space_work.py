"""Moving workspaces to other spaces, for whichever door asks."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Iterator

from chassis.errors import FieldViolation, InvalidArgument
from gateway.ports import SpaceStore
from gateway.reembedding import Reembedding, ReembeddingEvent, ReembeddingRequest, SwitchGate
from gateway.spaces import SpaceDrop, SpaceSwitch
from gateway.validation import MAX_LIMIT, MAX_QUERY_BYTES, check_slug

MAX_QUESTIONS = 1_000
MAX_SPACE_ID_LENGTH = 256


class SpaceWork:
    """Checks what is asked for, and has it done."""

    def __init__(self, reembedding: Reembedding, store: SpaceStore) -> None:
        self._reembedding = reembedding
        self._store = store

    def reembed(self, request: ReembeddingRequest) -> AsyncGenerator[ReembeddingEvent, None]:
        """Embeds a workspace again; InvalidArgument for a wrong request, before anything begins."""
        check_slug(request.workspace, "workspace")
        _check_space_id(request.target)
        if request.gate is not None:
            violations = list(_gate_violations(request.gate))
            if violations:
                raise InvalidArgument(violations[0].description, violations=violations)
        return self._reembedding.reembed(request)

    async def switch(
        self, workspace: str, space_id: str, *, require_complete: bool = False
    ) -> SpaceSwitch:
        """Makes a space the preferred one; NotFound where the workspace does not hold it."""
        check_slug(workspace, "workspace")
        _check_space_id(space_id, required=True)
        return await self._store.switch_space(
            workspace, space_id, require_complete=require_complete
        )

    async def drop(
        self, workspace: str, space_id: str, *, leave_waiting: bool = False
    ) -> SpaceDrop:
        """Deletes the vectors of a space that searches do not need.

        With `leave_waiting` also of one that only passages need which the preferred space lacks.
        """
        check_slug(workspace, "workspace")
        _check_space_id(space_id, required=True)
        return await self._store.drop_space(workspace, space_id, leave_waiting=leave_waiting)


def _check_space_id(space_id: str, *, required: bool = False) -> None:
    if required and not space_id:
        raise InvalidArgument("space_id is empty; name a space of the workspace", field="space_id")
    if len(space_id) > MAX_SPACE_ID_LENGTH:
        raise InvalidArgument(
            f"space_id has {len(space_id)} characters; at most {MAX_SPACE_ID_LENGTH} are taken",
            field="space_id",
        )


def _gate_violations(gate: SwitchGate) -> Iterator[FieldViolation]:
    count = len(gate.questions)
    if not 1 <= count <= MAX_QUESTIONS:
        yield _violation("gate.questions", f"holds {count}; expected 1 to {MAX_QUESTIONS}")
    if not 1 <= gate.hit_count <= MAX_LIMIT:
        yield _violation("gate.hit_count", f"is {gate.hit_count}; expected 1 to {MAX_LIMIT}")
    for name in ("min_overlap", "max_hit_loss"):
        value = getattr(gate, name)
        if not (math.isfinite(value) and 0 <= value <= 1):
            yield _violation(f"gate.{name}", f"is {value}; expected 0 to 1")
    for index, question in enumerate(gate.questions[:MAX_QUESTIONS]):
        place = f"gate.questions[{index}]"
        if not question.query.strip():
            yield _violation(f"{place}.query", "is blank; write a question")
        elif len(question.query.encode("utf-8", "replace")) > MAX_QUERY_BYTES:
            yield _violation(f"{place}.query", f"has over {MAX_QUERY_BYTES} bytes")
        if not question.external_ids:
            yield _violation(f"{place}.external_ids", "is empty; name a document that answers it")


def _violation(field: str, problem: str) -> FieldViolation:
    return FieldViolation(field, f"{field} {problem}")
