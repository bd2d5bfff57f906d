"""Passages of the default profile follow the structure of the document."""

import re
from itertools import pairwise

from gateway.ingestion.chunking.chunker import CutPassage, cut
from gateway.ingestion.chunking.measures import token_measure
from gateway.ingestion.chunking.profiles import PROFILES
from gateway.ingestion.extraction.blocks import Block, BlockKind, heading, paragraph

STRUCTURE = PROFILES["structure"]
# One token a character makes lengths easy to read.
TOKENS = token_measure(1.0)


def cut_blocks(*blocks: Block, title: str = "") -> tuple[CutPassage, ...]:
    """Cuts blocks by the default profile."""
    return cut(blocks, title, STRUCTURE, TOKENS)


def texts(passages: tuple[CutPassage, ...]) -> list[str]:
    """The texts of passages."""
    return [passage.passage.text for passage in passages]


def prose(length: int, word: str = "mot") -> str:
    """Sentences of about 50 characters; at least `length` in all, with the last one."""
    sentence = f"Le {word} " + " ".join(["suit"] * 7) + " bien."
    return " ".join([sentence] * -(-length // len(sentence)))


def test_a_short_document_is_one_passage() -> None:
    """Small sections are merged; headings stand in the text and in the path."""
    passages = cut_blocks(
        heading("Guide", 1), paragraph("Un."), heading("Suite", 2), paragraph("Deux.")
    )

    assert texts(passages) == ["# Guide\n\nUn.\n\n## Suite\n\nDeux."]
    assert passages[0].passage.heading_path == ("Guide",)


def test_a_full_passage_ends_before_a_heading() -> None:
    """Each section that is long enough has its own passage, with the whole path to it."""
    passages = cut_blocks(
        heading("Guide", 1),
        heading("Causes", 2),
        paragraph(prose(380)),
        paragraph(prose(100)),
        heading("Suites", 2),
        heading("Clients", 3),
        paragraph(prose(300)),
    )

    assert [passage.passage.heading_path for passage in passages] == [
        ("Guide", "Causes"),
        ("Guide", "Suites", "Clients"),
    ]
    assert texts(passages)[1].startswith("## Suites\n\n### Clients\n\nLe mot")


def test_nothing_of_one_section_is_repeated_in_the_next() -> None:
    """An overlap would only blur a passage that begins with its own heading."""
    passages = cut_blocks(
        heading("A", 1),
        paragraph(prose(390, "premier")),
        paragraph("Une fin brève."),
        heading("B", 1),
        paragraph(prose(390, "second")),
    )

    assert "Une fin brève." in texts(passages)[0]
    assert "Une fin brève." not in texts(passages)[1]


def test_long_sections_overlap_by_whole_paragraphs() -> None:
    """The next passage repeats 60 to 90 tokens, from the beginning of a paragraph."""
    paragraphs = [f"Alinéa {n:02}. " + "x" * 55 for n in range(30)]

    passages = cut_blocks(heading("A", 1), *map(paragraph, paragraphs))

    for before, after in pairwise(texts(passages)):
        repeated = before.split("\n\n")[-1]
        assert after.startswith(repeated)
        assert 60 <= len(repeated) <= 90


def test_a_long_last_paragraph_is_repeated_by_sentences() -> None:
    """The overlap starts at the nearest border of a sentence instead."""
    passages = cut_blocks(paragraph(prose(360)), paragraph(prose(360)), paragraph(prose(360)))

    overlap = texts(passages)[1].split("\n\n")[0]
    assert texts(passages)[0].endswith(overlap)
    assert overlap.startswith("Le mot")
    assert 40 <= len(overlap) <= 90


def test_passages_hold_400_to_800_tokens_where_the_text_allows() -> None:
    """All but the last passage are within the bounds of the profile."""
    sections = [
        block
        for n in range(12)
        for block in (heading(f"S{n}", 2), *[paragraph(prose(140 + 23 * n))] * (n % 5))
    ]

    passages = cut_blocks(*sections)

    assert len(passages) > 3
    assert all(400 <= passage.passage.token_estimate <= 800 for passage in passages[:-1])
    assert passages[-1].passage.token_estimate <= 800


def test_headings_never_end_a_passage() -> None:
    """A heading belongs to what stands below it."""
    blocks = [block for n in range(20) for block in (heading(f"T{n}", 2), paragraph(prose(180)))]

    assert all(not text.splitlines()[-1].startswith("#") for text in texts(cut_blocks(*blocks)))


def test_tables_and_code_stay_whole_where_they_fit() -> None:
    """A passage ends early rather than cut them."""
    table = Block(
        BlockKind.TABLE,
        tuple(f"| quai {n:02} | {n} jours |" for n in range(30)),
        header=("| Quai | Délai |", "| --- | --- |"),
    )
    code = Block(BlockKind.CODE, tuple(f"ligne_{n:02} = {n}" for n in range(45)), language="py")

    passages = cut_blocks(paragraph(prose(300)), table, paragraph(prose(200)), code)

    assert sum(table.text in text for text in texts(passages)) == 1
    assert sum(f"```py\n{code.text}\n```" in text for text in texts(passages)) == 1


def test_every_part_of_a_divided_table_has_the_header() -> None:
    """A row can be understood in each of them, and no row is lost or cut."""
    rows = tuple(f"| quai {n:03} | {n} jours de retard |" for n in range(100))
    table = Block(
        BlockKind.TABLE, rows, location="Ventes", header=("| Quai | Délai |", "| --- | --- |")
    )

    passages = cut_blocks(table)

    assert len(passages) > 4
    assert all(
        text.startswith("| Quai | Délai |\n| --- | --- |\n| quai") for text in texts(passages)
    )
    assert all(passage.passage.location == "Ventes" for passage in passages)
    found = [row for text in texts(passages) for row in text.split("\n")[2:]]
    assert tuple(found) == rows


def test_divided_code_is_fenced_in_every_part() -> None:
    """Fences are longer than any inside the code."""
    code = Block(
        BlockKind.CODE, ("````", *(f"ligne_{n:03} = {n}" for n in range(200))), language=""
    )

    passages = cut_blocks(code)

    assert len(passages) > 2
    for text in texts(passages):
        assert text.startswith("`````\n")
        assert text.endswith("\n`````")


def test_items_of_a_long_list_stay_whole() -> None:
    """A list is divided between items."""
    items = tuple(f"- point {n:02} " + "a" * 60 + "\n  - détail" for n in range(40))

    passages = cut_blocks(Block(BlockKind.LIST, items))

    found = [item for text in texts(passages) for item in re.split(r"\n(?=- )", text)]
    assert set(found) == set(items)


def test_a_header_too_long_to_repeat_becomes_a_row() -> None:
    """The passage still holds rows, not only their header."""
    header = ("| " + "colonne très longue " * 30 + "|", "| --- |")
    table = Block(BlockKind.TABLE, tuple(f"| rang {n:03} |" for n in range(60)), header=header)

    passages = texts(cut_blocks(table))

    assert sum("colonne très longue" in text for text in passages) == 1
    assert sum("rang 059" in text for text in passages) == 1


def test_title_and_headings_are_embedded_with_the_text_but_not_twice() -> None:
    """What the text itself begins with is not put in front of it again."""
    passages = cut_blocks(
        heading("Guide", 1),
        heading("Causes", 2),
        paragraph(prose(360)),
        paragraph(prose(360)),
        paragraph(prose(360)),
        title="Guide",
    )
    other = cut_blocks(heading("Causes", 2), paragraph("Un."), title="Retards")

    assert passages[0].embedded_text == passages[0].passage.text
    assert passages[1].embedded_text == f"Guide > Causes\n{passages[1].passage.text}"
    assert other[0].embedded_text == "Retards\n## Causes\n\nUn."


def test_the_fingerprint_follows_the_embedded_text() -> None:
    """Another title means another vector; the same text the same fingerprint."""
    first, again, renamed = (
        cut_blocks(paragraph("Un."), title=title)[0].passage.embedded_text_hash
        for title in ("A", "A", "B")
    )

    assert first == again != renamed
    assert re.fullmatch(r"[0-9a-f]{64}", first)


def test_location_is_where_the_passage_begins() -> None:
    """The page of its first words."""
    passages = cut_blocks(
        *(
            block
            for page in (1, 2, 3)
            for block in (heading("T", 1, f"page {page}"), paragraph(prose(400), "later"))
        )
    )

    assert [passage.passage.location for passage in passages] == ["page 1", "page 2", "page 3"]
