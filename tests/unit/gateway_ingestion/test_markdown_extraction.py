"""Markdown files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingestion.extraction import markdown
from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits


def blocks_in(text: str) -> list[Block]:
    """Reads Markdown text."""
    return list(markdown.blocks_in(text))


@pytest.fixture
def read(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Writes a Markdown file and extracts it."""

    def reading(text: str) -> Extraction:
        path = tmp_path / "file.md"
        path.write_text(text, encoding="utf-8")
        return markdown.extract(path, ExtractionLimits())

    return reading


def test_blocks_come_in_order_with_their_kinds() -> None:
    """Headings have levels, lists items, tables a header, code its language."""
    assert blocks_in(
        """\
# Titre *fort* {#ancre}

Un paragraphe
sur deux lignes.

Sous-titre
----------

- un
  - sous-point
- deux

| a | b |
|---|---|
| 1 | 2 |

```python
# pas un titre
```
"""
    ) == [
        heading("Titre fort", 1),
        paragraph("Un paragraphe\nsur deux lignes."),
        heading("Sous-titre", 2),
        Block(BlockKind.LIST, ("- un\n  - sous-point", "- deux")),
        Block(BlockKind.TABLE, ("| 1 | 2 |",), header=("| a | b |", "|---|---|")),
        Block(BlockKind.CODE, ("# pas un titre",), language="python"),
    ]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    """Four backticks are closed by four: nothing inside becomes a heading or a fence."""
    blocks = blocks_in("````\n```\n# non\n```\n````\n\n# oui\n")

    assert blocks == [
        Block(BlockKind.CODE, ("```", "# non", "```")),
        heading("oui", 1),
    ]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    """CommonMark closes it there: no heading is invented."""
    assert blocks_in("~~~\n# non\nfin") == [Block(BlockKind.CODE, ("# non", "fin"))]


def test_html_inside_is_read_as_html() -> None:
    """Tags vanish, their text stays, scripts do not."""
    blocks = blocks_in("<div><p>Droit <b>A</b></p></div>\n\n<script>\nlet a\n</script>\n\nfin")

    assert blocks == [paragraph("Droit A"), paragraph("fin")]


def test_link_targets_are_kept() -> None:
    """Lines that make no block are paragraphs of their own."""
    blocks = blocks_in("Voir [la page][1].\n\n[1]: https://exemple.fr/page\n")

    assert blocks == [paragraph("Voir [la page][1]."), paragraph("[1]: https://exemple.fr/page")]


def test_front_matter_becomes_facts(read) -> None:  # type: ignore[no-untyped-def]
    """It is not part of the text."""
    extraction = read("---\ntitle: Politique tarifaire\nsuperseded: true\n---\n\nTexte.\n")

    assert extraction.facts.title == "Politique tarifaire"
    assert extraction.facts.superseded
    assert extraction.blocks == (paragraph("Texte."),)


def test_front_matter_that_is_not_understood_stays_text(read) -> None:  # type: ignore[no-untyped-def]
    """A warning says why; no word is lost."""
    extraction = read("---\ntitle: {nested: deep}\n---\n\nTexte.\n")

    assert extraction.blocks[0] == Block(
        BlockKind.CODE, ("title: {nested: deep}",), language="yaml"
    )
    assert extraction.blocks[1] == paragraph("Texte.")
    assert "{nested: deep}" in extraction.warnings[0]


_WORD = st.from_regex(r"[a-zé]{1,8}", fullmatch=True)
_LINES = st.one_of(
    _WORD,
    _WORD.map("# {}".format),
    _WORD.map("- {}".format),
    _WORD.map("  - {}".format),
    _WORD.map("> {}".format),
    _WORD.map("    {}".format),
    _WORD.map("| {} |".format),
    _WORD.map("[{}]: x".format),
    _WORD.map("1. {}".format),
    st.sampled_from(["", "```", "---", "~~~~", "|---|", "***", "````"]),
)


def test_long_items_with_code_are_opened() -> None:
    """Code inside them stays whole, headings inside them count; other items stay a list."""
    words = "Le navire attend au large. " * 70
    text = f"- un\n- **Détails** {words}\n\n  ```js\n  a()\n\n    b()\n  ```\n\n  ### Note\n- fin\n"

    assert blocks_in(text) == [
        Block(BlockKind.LIST, ("- un",)),
        paragraph(f"**Détails** {words}"),
        Block(BlockKind.CODE, ("a()", "", "  b()"), language="js"),
        heading("Note", 3),
        Block(BlockKind.LIST, ("- fin",)),
    ]


@given(st.lists(_LINES, max_size=12))
def test_every_word_is_in_a_block(lines: list[str]) -> None:
    """Whatever the structure, no word of the source is lost, and order is kept."""
    text = "\n".join(lines)

    found = "\n".join(f"{block.language}\n{block.text}" for block in blocks_in(text))

    position = 0
    for line in lines:
        word = line.strip(" #->|[]:x1.`~*")
        position = found.find(word, position)
        assert position >= 0, (word, found)
