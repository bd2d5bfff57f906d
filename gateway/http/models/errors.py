"""Errors in JSON."""

from __future__ import annotations

from pydantic import BaseModel, Field


class FieldViolationBody(BaseModel):
    """What is wrong with one field."""

    field: str
    description: str


class ErrorBody(BaseModel):
    """What went wrong, and what to do."""

    status: str = Field(description="canonical status, for example NOT_FOUND")
    reason: str = Field(description="machine-readable reason, for example WORKSPACE_NOT_FOUND")
    message: str
    field_violations: list[FieldViolationBody]
    request_id: str


class ErrorAnswer(BaseModel):
    """The body of every answer that is an error."""

    error: ErrorBody
