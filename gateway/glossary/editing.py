"""What a change makes of a glossary: pure functions from the entries before to those after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from chassis.errors import AlreadyExists, FailedPrecondition, FieldViolation, InvalidArgument
from gateway.glossary.entry import GlossaryEdit, GlossaryEntry, name_of, wording_of
from gateway.glossary.term_forms import TermForm, form_of

MAX_ENTRIES = 2_000
"""Entries of a workspace."""

MAX_TERM_LENGTH = 100
"""Characters of a term, and of a synonym."""

MAX_SYNONYMS = 20

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MOST_VIOLATIONS = 20


def checked_entries(
    entries: Sequence[GlossaryEntry], languages: tuple[str, ...]
) -> tuple[GlossaryEntry, ...]:
    """Returns the entries in NFC with single spaces, each synonym once.

    InvalidArgument names every entry that cannot stand in a glossary, and those that are one term
    to the search.
    """
    if len(entries) > MAX_ENTRIES:
        raise InvalidArgument(
            f"entries holds {len(entries)}, and a glossary at most {MAX_ENTRIES}", field="entries"
        )
    tidied = [_tidied(entry) for entry in entries]
    violations = list(islice(_violations(tidied, languages), _MOST_VIOLATIONS))
    if violations:
        raise InvalidArgument(violations[0].description, violations=violations)
    return tuple(tidied)


def putting(
    entries: Sequence[GlossaryEntry], languages: tuple[str, ...], *, replace_all: bool = False
) -> GlossaryEdit:
    """Returns the edit that adds checked entries, or replaces those of equal terms.

    With `replace_all` no other entry stays. The edit raises AlreadyExists where another term is
    the same to the search, FailedPrecondition where the glossary would pass its limit.
    """

    def edit(before: tuple[GlossaryEntry, ...]) -> tuple[GlossaryEntry, ...]:
        new = {entry.name: entry for entry in entries}
        kept = {} if replace_all else {each.name: each for each in before if each.name not in new}
        terms = {form_of(entry.term, languages): entry.term for entry in kept.values()}
        for entry in entries:
            other = terms.get(form_of(entry.term, languages))
            if other is not None:
                raise AlreadyExists(
                    f"{entry.term!r} is the same to the search as {other!r}, which is there: add "
                    f"the synonyms to {other!r}, or delete that entry first",
                    reason="GLOSSARY_TERM_EXISTS",
                )
        if len(kept) + len(new) > MAX_ENTRIES:
            raise FailedPrecondition(
                f"the glossary would hold {len(kept) + len(new)} entries, at most {MAX_ENTRIES} "
                "are kept: delete some first",
                reason="GLOSSARY_FULL",
            )
        return in_order([*kept.values(), *new.values()])

    return edit


def deleting(terms: Iterable[str]) -> GlossaryEdit:
    """Returns the edit that deletes the entries of these terms, whatever their case."""
    names = {name_of(term) for term in terms}
    return lambda before: tuple(entry for entry in before if entry.name not in names)


def in_order(entries: Iterable[GlossaryEntry]) -> tuple[GlossaryEntry, ...]:
    """Returns entries by name."""
    return tuple(sorted(entries, key=lambda entry: entry.name))


def _tidied(entry: GlossaryEntry) -> GlossaryEntry:
    synonyms: dict[str, str] = {}
    for synonym in map(wording_of, entry.synonyms):
        if synonym:
            synonyms.setdefault(synonym.casefold(), synonym)
    return GlossaryEntry(wording_of(entry.term), tuple(synonyms.values()))


def _violations(
    entries: Sequence[GlossaryEntry], languages: tuple[str, ...]
) -> Iterator[FieldViolation]:
    earlier: dict[TermForm, int] = {}
    for index, entry in enumerate(entries):
        field = f"entries[{index}]"
        yield from _wording_violations(entry.term, f"{field}.term")
        for synonym in entry.synonyms:
            yield from _wording_violations(synonym, f"{field}.synonyms")
        if not 1 <= len(entry.synonyms) <= MAX_SYNONYMS:
            yield FieldViolation(
                f"{field}.synonyms",
                f"{field}.synonyms holds {len(entry.synonyms)}; expected 1 to {MAX_SYNONYMS}",
            )
        if not 1 <= len(entry.term) <= MAX_TERM_LENGTH:
            continue
        form = form_of(entry.term, languages)
        if not any(form):
            yield FieldViolation(
                f"{field}.term",
                f"{field}.term {entry.term[:80]!r} holds no word that a search looks for",
            )
        elif (first := earlier.setdefault(form, index)) != index:
            yield FieldViolation(
                f"{field}.term",
                f"{field}.term {entry.term[:80]!r} is the same to the search as "
                f"{entries[first].term[:80]!r} of entries[{first}]: make one entry of them",
            )


def _wording_violations(text: str, field: str) -> Iterator[FieldViolation]:
    if not text:
        yield FieldViolation(field, f"{field} is blank")
    elif len(text) > MAX_TERM_LENGTH:
        yield FieldViolation(
            field, f"{field} has {len(text)} characters, at most {MAX_TERM_LENGTH} are taken"
        )
    elif _CONTROL.search(text):
        yield FieldViolation(field, f"{field} {text!r} holds a control character")
