"""Pages, groups and highlights in the client and on the command line."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from justesse.cli.marked_text import MarkedText
from justesse.cli.output import one_line
from justesse.cli.snippets import Snippet
from justesse.client import Justesse, TextSpan
from justesse.gateway.v1 import search_pb2
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import search

BOLD = "\x1b[1m"


@pytest.fixture
def three_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake gateway gives tokens of two more pages and marks a word of each first hit."""
    tokens = iter(("second", "third", ""))

    def page(request_id: str) -> search_pb2.SearchPassagesResponse:
        response = single(request_id)
        response.next_page_token = next(tokens)
        response.total_count, response.window_cut = 6, True
        response.hits[0].highlights.add(start=3, end=9)
        return response

    single = search.search_response
    monkeypatch.setattr(search, "search_response", page)


@pytest.mark.usefixtures("three_pages")
def test_the_client_turns_pages(line: CommandLine) -> None:
    """By the token of the page before; totals and highlights are read."""
    with Justesse(line.address) as justesse:
        first = justesse.search("demo", "q", highlight=True, group_by_document=True)
        justesse.search("demo", "q", page_token=first.next_page_token, candidate_count=150)

    asked, then = line.state.searches
    assert (asked.highlight, asked.group_by_document, asked.page_token) == (True, True, "")
    assert (then.page_token, then.candidate_count) == ("second", 150)
    assert (first.total_count, first.window_cut) == (6, True)
    assert first.hits[0].highlights == (TextSpan(3, 9),)
    assert first.hits[0].text[3:9] == "retard"
    assert first.hits[1].highlights == ()


@pytest.mark.usefixtures("three_pages")
def test_the_command_walks_to_a_page(line: CommandLine) -> None:
    """From token to token with the same options; the last page promises no other."""
    told = line.run("search", "q", "-w", "demo", "--page", "3", "--group", "-n", "2").stdout

    assert [asked.page_token for asked in line.state.searches] == ["", "second", "third"]
    assert {asked.group_by_document for asked in line.state.searches} == {True}
    assert {asked.limit for asked in line.state.searches} == {2}
    assert "--page" not in told
    assert "wanted" not in told


@pytest.mark.usefixtures("three_pages")
def test_the_command_says_that_there_are_more_pages(line: CommandLine) -> None:
    """With their number; a page beyond the last is no result."""
    assert "6 in all; --page shows the others." in line.run("search", "q", "-w", "demo").stdout
    message = line.error("search", "q", "-w", "demo", "--page", "4", code=1)
    assert "there is no page 4: the answer ends on page 2" in message


@pytest.mark.usefixtures("three_pages")
def test_json_holds_token_and_highlights(line: CommandLine) -> None:
    """For scripts that go on from there."""
    result = line.json("search", "q", "-w", "demo", "--candidates", "40")

    assert line.state.searches[0].candidate_count == 40
    assert (result["next_page_token"], result["total_count"]) == ("second", 6)
    assert result["hits"][0]["highlights"] == [{"start": 3, "end": 9}]


def shown(snippet: Snippet) -> str:
    """Returns a snippet as a colour terminal gets it, in one line."""
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="standard")
    console.print(snippet)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_terms_are_shown_in_bold() -> None:
    """Where they stand in the excerpt, after what was left out before them."""
    text = "| a | b |\n| --- | --- |\nLe\tport, l’EAU   douce"
    start = text.index("EAU")
    told = shown(Snippet(text, highlights=(TextSpan(start, start + 3),)))

    assert re.findall(r"\x1b\[1m(.*?)\x1b\[0m", told) == ["EAU"]
    assert BOLD not in shown(Snippet(text))


@given(
    text=st.text(st.sampled_from("ab \t\n\x1b|-\u00a0é"), max_size=30),
    start=st.integers(0, 30),
    length=st.integers(0, 10),
)
def test_marks_stay_with_their_characters(text: str, start: int, length: int) -> None:
    """However blanks collapse: the line is that without marks, the marked letters are the same."""
    marked = MarkedText.of(text, [TextSpan(start, start + length)])
    line = marked.in_one_line()
    letters = [character for character in text[start : start + length] if character in "ab|-é"]

    assert line.text == one_line(text)
    assert [c for c, mark in zip(line.text, line.marks, strict=True) if mark] == letters
    assert marked.without(re.compile(r"\|")).in_one_line().text == one_line(text.replace("|", ""))
    assert line.styled("bold").plain == line.text
