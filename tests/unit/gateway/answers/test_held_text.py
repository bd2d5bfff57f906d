"""Text of a stream is held until nothing that follows can change what it means."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.held_text import HeldText

ANSWER = (
    "Le délai est de 30 jours. [Source-1] [Source-2] M. Dupont l'écrit [Source-1]. Voir [la page. "
    'Deux](https://a.test/b_(c).d) ou <img alt="a. B" src="https://e.test"> ici. Fin.\n\n'
    "- un point [[source:a|Titre. Suite]]\n- un autre\n\nLa fin"
)
SAFE_ENDS = (
    "Le délai est de 30 jours. [Source-1] [Source-2] ",
    "M. Dupont l'écrit [Source-1]. ",
    'Voir [la page. Deux](https://a.test/b_(c).d) ou <img alt="a. B" src="https://e.test"> ici. ',
    "Fin.\n\n",
    "- un point [[source:a|Titre. Suite]]\n",
    "- un autre\n\n",
)


def _given(pieces: list[str]) -> tuple[list[str], str]:
    held = HeldText()
    given = [text for piece in pieces if (text := held.feed(piece))]
    return given, held.close()


def test_sentences_are_given_with_the_marks_behind_them() -> None:
    """Letter by letter: each sentence once, never a part of a link, a tag or a mark."""
    given, rest = _given(list(ANSWER))

    assert tuple(given) == SAFE_ENDS
    assert rest == "La fin"


@given(st.integers(0, 10_000))
@settings(derandomize=True, max_examples=60)
def test_pieces_do_not_matter(seed: int) -> None:
    """However an answer is cut into pieces, it is given up to the same places, and is all there."""
    rng = random.Random(seed)
    cuts = sorted(rng.sample(range(len(ANSWER)), rng.randrange(1, 30)))
    pieces = [ANSWER[a:b] for a, b in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True)]
    given, rest = _given(pieces)

    ends = {sum(map(len, SAFE_ENDS[:count])) for count in range(len(SAFE_ENDS) + 1)}
    places = {sum(map(len, given[:count])) for count in range(len(given) + 1)}
    assert places <= ends
    assert "".join(given) + rest == ANSWER


@given(st.text(alphabet="aB .!?\n[]()<>|-é/:1", max_size=60), st.integers(1, 7))
@settings(derandomize=True, max_examples=200)
def test_nothing_is_lost(text: str, size: int) -> None:
    """What was given and what is held make up what came, whatever it is."""
    given, rest = _given([text[at : at + size] for at in range(0, len(text), size)])

    assert "".join(given) + rest == text


@pytest.mark.parametrize(
    "opened",
    [
        "![image. Une",
        "[lien](https://a.test/x. Un",
        "<img alt='x. Un",
        "<!-- un. Deux",
        "[[source:a. B",
    ],
)
def test_what_is_open_is_held_to_its_end(opened: str) -> None:
    """No sentence ends inside of a link, an image, a tag or a mark; a paragraph ends them all."""
    given, rest = _given([f"{opened} autre. Encore une phrase. Et puis"])
    after, _ = _given([f"{opened} autre.\n\nUne phrase. Et puis"])

    assert given == []
    assert rest.startswith(opened)
    assert after == [f"{opened} autre.\n\nUne phrase. "]
