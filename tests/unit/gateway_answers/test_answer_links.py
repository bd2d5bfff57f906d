"""Links and images that the sources do not hold never reach a reader."""

from __future__ import annotations

import pytest

from gateway.answers.checking.links import AllowedLinks

KNOWN = "https://kb.test/guide"
LINKS = AllowedLinks([f"Voir {KNOWN} et www.kb.test.", "https://kb.test/a(b)"])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Voir [le guide](https://evil.test/?q=secret).", "Voir le guide."),
        ('Voir [le guide](https://evil.test "titre").', "Voir le guide."),
        ("![pixel](https://evil.test/p.png)", ""),
        ("![pixel](data:image/png;base64,AAAA)", ""),
        ("[clic](javascript:alert(1))", "clic"),
        ("[clic](JaVaScRiPt:alert(1))", "clic"),
        ("Voir https://evil.test/x, puis.", "Voir , puis."),
        ("Voir <https://evil.test>.", "Voir ."),
        ("Voir www.evil.test.", "Voir ."),
        ("Voir [le guide][g].\n\n[g]: https://evil.test", "Voir le guide.\n\n"),
        ('<img src="https://evil.test/p.png">', ""),
        ('<a href="https://evil.test">clic</a>', "clic"),
        ("<script>fetch('https://evil.test')</script>", ""),
        ("<script>fetch(1)", ""),
        ("<!-- caché -->visible", "visible"),
        ("[![pixel](https://evil.test/p)](https://evil.test)", ""),
        ("mailto <mailto:a@evil.test>", "mailto "),
    ],
)
def test_what_leads_elsewhere_is_removed(text: str, left: str) -> None:
    """The text of a link stays, an image goes; each is counted."""
    cleaned, removed = LINKS.cleaned(text)
    assert cleaned == left
    assert removed >= 1


@pytest.mark.parametrize(
    "text",
    [
        f"Voir [le guide]({KNOWN}).",
        f"Voir {KNOWN}, puis.",
        f"<{KNOWN}/>",
        "Voir www.kb.test.",
        "[x](https://kb.test/a(b))",
        "a < b, b > c, 3 <4 et [une note], [ ] à faire",
        "`<b>https://evil.test</b>`",
        "```html\n<a href='https://evil.test'>x</a>\n```",
        "~~~\nhttps://evil.test\n~~~",
    ],
)
def test_what_the_sources_hold_stays(text: str) -> None:
    """So does code, and what is no link."""
    assert LINKS.cleaned(text) == (text, 0)


def test_a_fence_without_an_end_is_code_to_the_end() -> None:
    """As Markdown reads it."""
    text = "```\nhttps://evil.test"
    assert LINKS.cleaned(text) == (text, 0)
