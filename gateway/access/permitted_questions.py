"""Questions, as far as their callers may ask them."""

from __future__ import annotations

from dataclasses import replace

from gateway.access.call_access import mandatory_filter
from gateway.filters import AllOf
from gateway.questions import Question


def permitted(question: Question) -> Question:
    """Returns the question about those documents only that are there for the call.

    A permitted question comes back as it is. Raises as `CallAccess.check_workspace` does.
    """
    mandatory = mandatory_filter(question.workspace)
    if mandatory is None:
        return question
    # The very filter, not an equal one: for Python true equals 1, and in a document it does not.
    match question.filter:
        case None:
            return replace(question, filter=mandatory)
        case AllOf((first, *_)) if first is mandatory:
            return question
        case asked if asked is mandatory:
            return question
        case asked:
            return replace(question, filter=AllOf((mandatory, asked)))
