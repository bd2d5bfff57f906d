"""Which part of a passage is shown for a question."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from justesse.cli.excerpts import best_excerpt
from justesse.cli.snippets import Snippet

FILLER = "Le port est payé par le client. " * 20
ANSWER = "Les conteneurs retardés partent le mardi."


def test_excerpt_holds_the_answer() -> None:
    """The sentence that holds the words of the question is shown, in any inflection."""
    text = f"{FILLER}{ANSWER} {FILLER}"
    excerpt = best_excerpt(text, ["Quand part un conteneur en retard ?"], "fr", 100)
    assert excerpt.text.startswith(ANSWER)
    assert not excerpt.begins


def test_language_decides_the_inflections() -> None:
    """English words are matched as English ones."""
    text = f"{FILLER}Deliveries are booked weekly. {FILLER}"
    assert best_excerpt(text, ["delivery booking"], "en", 60).text.startswith("Deliveries")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"{ANSWER} {FILLER}", "conteneurs retardés"),
        (FILLER, "rien de tel"),
        (FILLER, "le la les"),
        (ANSWER, "conteneurs"),
        ("", "conteneurs"),
    ],
)
def test_beginning_is_shown_where_nothing_says_more(text: str, question: str) -> None:
    """A text that answers at once, not at all, or fits whole is shown from its beginning."""
    excerpt = best_excerpt(text, [question], "fr", 100)
    assert (excerpt.text, excerpt.begins) == (text, True)


def test_answer_at_the_end_leaves_no_room_unused() -> None:
    """What stands before an answer at the end fills the lines."""
    excerpt = best_excerpt(f"{FILLER}{ANSWER}", ["conteneurs retardés"], "fr", 100)
    assert excerpt.text.endswith(ANSWER)
    assert len(excerpt.text) > len(ANSWER)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.text(max_size=200), st.text(max_size=40), st.integers(1, 80))
def test_excerpt_is_an_end_of_the_text(text: str, question: str, length: int) -> None:
    """Whatever the text, the excerpt is a part of it that reaches to its end."""
    excerpt = best_excerpt(text, [question], "fr", length)
    assert text.endswith(excerpt.text)
    assert excerpt.begins == (len(excerpt.text) == len(text))


def test_snippet_marks_what_is_left_out() -> None:
    """Ellipses stand on both sides; the rule of a table is no content."""
    text = f"| Mois | Lignes |\n| --- | :---: |\n{FILLER}{ANSWER} {FILLER}"
    console = Console(file=io.StringIO(), width=30)
    console.print(Snippet(text, ("conteneurs retardés",), "fr"))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.startswith("… Les conteneurs retardés")
    assert shown.rstrip().endswith("…")
    console.print(Snippet(text))
    assert "---" not in console.file.getvalue()
