"""Finds a workspace's own terms in a query, and what its documents say instead."""

from __future__ import annotations

from collections.abc import Sequence

from rewriter_svc.language import stands_in, terms_of
from rewriter_svc.rewriting import GlossaryEntry


def synonyms_for(query: str, glossary: Sequence[GlossaryEntry], language: str) -> list[str]:
    """Returns the synonyms of the terms that stand in the query, those that it lacks, each once.

    A term stands in the query if its words follow each other there, in whatever form: case,
    accents, plural and articles do not count.
    """
    asked = terms_of(query, language)
    found: dict[str, None] = {}
    for entry in glossary:
        if not stands_in(terms_of(entry.term, language), asked):
            continue
        for synonym in entry.synonyms:
            wording = " ".join(synonym.split())
            if wording and not stands_in(terms_of(wording, language), asked):
                found.setdefault(wording)
    return list(found)
