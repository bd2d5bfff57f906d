"""Imports of workspaces in JSON."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ImportReportBody(BaseModel):
    """What was imported."""

    document_count: int
    passage_count: int
    vector_count: int = Field(description="in all spaces, without windows")
    glossary_entry_count: int
    switch_override_count: int
