"""Questions, as far as their callers may ask them."""

from __future__ import annotations

from dataclasses import replace

from gateway.access.call_access import mandatory_filter
from gateway.filters import AllOf
from gateway.questions import Question


def permitted(question: Question) -> Question:
    """Returns the question about those documents only that are there for the call.

    Raises as `CallAccess.check_workspace` does.
    """
    mandatory = mandatory_filter(question.workspace)
    if mandatory is None:
        return question
    asked = question.filter
    return replace(question, filter=mandatory if asked is None else AllOf((mandatory, asked)))
