"""What a model was made to write leads nowhere, however it is written and wherever it is cut."""

from __future__ import annotations

import random
import re

import pytest
from markdown_it import MarkdownIt

from gateway.answers.checking.checked_answer import check_answer
from gateway.answers.draft import Draft
from gateway.context.building import build_context
from tests.fakes.gateway_services.context_hits import hit

CONTEXT = build_context(
    "Quel délai ?", [hit(1, "Le délai de retour est de 30 jours. Voir https://kb.test/ok.")]
)
MARK = CONTEXT.sources[0].mark
LEADS = re.compile(
    r"(?:href|src|url|action|content|onload)\s*=?[^<>]*evil"
    r"|<script|<style|<iframe|<img|<svg|javascript:",
    re.IGNORECASE,
)
ATTACKS = (
    "![x](https://evil.test/a)",
    "![x]( https://evil.test/a 'titre' )",
    "![x](<https://evil.test/a b>)",
    "![x [y]](https://evil.test/a)",
    "![[x]](https://evil.test/a)",
    "![a\nb](https://evil.test/a)",
    "![x](\nhttps://evil.test/a\n)",
    "![x](HTTPS://EVIL.TEST/a)",
    "![x](https:&#47;&#47;evil.test/a)",
    "![x](https://kb.test@evil.test/a)",
    "![x][1]\n\n[1]: https://evil.test/a",
    "![x][]\n\n[x]: https://evil.test/a",
    "[x]\n\n[x]: https://evil.test/a",
    "[1]: https://evil.test/x\n\nVoir [1].",
    "[ici](//evil.test/a)",
    "[ici](javascript:alert(1))",
    "[ici](data:text/html,evil.test)",
    "[x](&#106;avascript:evil.test)",
    "[x](https://kb.test.evil.test)",
    "[source:a](https://evil.test)",
    "[[source:a.md|x]](https://evil.test)",
    "[1](https://evil.test/x)",
    "[![x](https://evil.test/i)](https://evil.test/l)",
    "<img src=https://evil.test/a>",
    "<img\nsrc='https://evil.test/a'\n>",
    '<img src="https://evil.test/a"',
    '<a href="https://evil.test">x</a>',
    "<https://evil.test/a>",
    "<svg onload=\"x='evil.test'\">",
    "<script>fetch('//evil.test')</script>",
    "<style>@import '//evil.test'</style>",
    "<iframe src=//evil.test></iframe>",
    "<meta http-equiv=refresh content='0;url=https://evil.test'>",
    "`a` ![x](https://evil.test/a) `b",
    "> ![x](https://evil.test/a)",
    "| ![x](https://evil.test/a) |",
)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("behind", ["", " Fin. Encore", "\n\nAutre paragraphe.\n"])
def test_no_prefix_of_an_answer_leads_away(attack: str, behind: str) -> None:
    """Rendered after each piece that is given out, as a reader would see it."""
    rng = random.Random(attack)
    draft = Draft(
        lambda text: check_answer(text, CONTEXT.sources, CONTEXT.style, CONTEXT.language), "fr"
    )
    text = f"Le délai de retour est de 30 jours {MARK}. Voyez {attack}{behind} Et {MARK}."
    render = MarkdownIt("commonmark", {"html": True}).enable("table").render
    shown, at = "", 0
    while at < len(text):
        size = rng.randrange(1, 9)
        shown += draft.add(text[at : at + size])
        at += size
        assert not LEADS.search(render(shown))
    shown += draft.close(complete=True)

    assert shown
    assert draft.is_whole
    assert not LEADS.search(render(shown))
