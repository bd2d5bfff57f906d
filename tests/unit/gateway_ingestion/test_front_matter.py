"""The lines between `---` at the top of a Markdown file."""

from datetime import UTC, datetime

import pytest

from gateway.ingestion.extraction.blocks import FileFacts
from gateway.ingestion.extraction.front_matter import (
    FrontMatterError,
    facts_from,
    split_front_matter,
)


def test_every_known_key_is_read() -> None:
    """Title to metadata arrive with their types; text that looks like a number stays text."""
    facts, warnings = facts_from(
        """\
# written by the quality team
title: "Retards : causes et suites"
keywords: [retard, "escale, Anvers", 'quai']
category: expéditions
language: fr
version: 1.10
superseded: true
valid_from: 2024-01-31
valid_until: 2025-01-31T12:00:00+01:00
metadata:
  week: 12
  audience: équipe #2
  urgent: false
  code: "0012"
  measured: 2024-02-01
"""
    )

    assert facts == FileFacts(
        title="Retards : causes et suites",
        keywords=("retard", "escale, Anvers", "quai"),
        category="expéditions",
        language="fr",
        version="1.10",
        superseded=True,
        valid_from=datetime(2024, 1, 31, tzinfo=UTC),
        valid_until=datetime(2025, 1, 31, 11, tzinfo=UTC),
        metadata={
            "week": 12.0,
            "audience": "équipe",
            "urgent": False,
            "code": "0012",
            "measured": datetime(2024, 2, 1, tzinfo=UTC),
        },
    )
    assert warnings == ()


@pytest.mark.parametrize(
    "lines",
    ["keywords: a, b", "keywords:\n  - a\n  - b", "keywords:\n- a\n- 'b'", "tags: [a, b]"],
)
def test_lists_have_three_notations(lines: str) -> None:
    """A comma list, a bracket list and a list of lines mean the same, and so does `tags`."""
    facts, _ = facts_from(lines)

    assert facts.keywords == ("a", "b")


def test_comments_end_values_but_not_inside_quotes() -> None:
    """` #` opens a comment, except within quotes or inside a word."""
    facts, _ = facts_from("title: C# et F# # langages\ncategory: 'a # b'\nversion: # none")

    assert (facts.title, facts.category, facts.version) == ("C# et F#", "a # b", "")


def test_unknown_keys_are_named_in_a_warning() -> None:
    """Nothing is dropped in silence."""
    _, warnings = facts_from("outline: deep\ntitle: T\nauthor: X")

    assert warnings == ("front matter keys not used: author, outline",)


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ("title", "title"),
        ("title: {a: b}", "{a: b}"),
        ("title: |\n  text", "|"),
        ("title:\n  - a", "title"),
        ("title: a\ntitle: b", "title"),
        ("superseded: maybe", "maybe"),
        ("valid_from: tomorrow", "tomorrow"),
        ("metadata: 3", "metadata"),
        ("keywords:\n  - a\n  b: c", "b: c"),
        ("metadata:\n  a: b\n  - c", "- c"),
    ],
)
def test_what_is_not_understood_is_named_and_not_guessed(lines: str, named: str) -> None:
    """A line outside the small notation raises an error that shows it."""
    with pytest.raises(FrontMatterError) as raised:
        facts_from(lines)

    assert named in str(raised.value)


@pytest.mark.parametrize("text", ["no fences", "---\ntitle: T\n", "text\n---\ntitle: T\n---\n"])
def test_text_without_closed_fences_at_the_top_has_no_front_matter(text: str) -> None:
    """Only two fences that open the file make front matter."""
    assert split_front_matter(text) == ("", text)


def test_front_matter_is_split_off() -> None:
    """The body starts after the closing fence."""
    assert split_front_matter("---\ntitle: T\n---\n# A\n---\n") == ("title: T\n", "# A\n---\n")
