"""HTML pages."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.ingestion.extraction import html
from gateway.ingestion.extraction.blocks import Block, BlockKind, heading, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits

LIMITS = ExtractionLimits()


def test_structure_is_kept_and_navigation_dropped(tmp_path: Path) -> None:
    """Headings, paragraphs, lists, tables and code come in order; scripts and menus do not."""
    path = tmp_path / "page.html"
    path.write_text(
        """<!doctype html><html lang="fr-FR"><head><title> Congés
        payés </title><meta name="keywords" content="congés, RTT"><style>p{}</style>
        <meta name="Description" content="Le guide"><meta name="superseded" content="true">
        <meta name="category" content="RH"><meta name="valid_from" content="2024-01-31">
        <meta name="version" content="1.10"><meta name="valid_until" content="un jour">
        <script>var a = "x"</script></head><body>
        <nav><ul><li>Accueil</li></ul></nav>
        <h1>Les <em>congés</em></h1>
        Texte <b>nu</b> &eacute;crit
        sur deux lignes.<br>Suite.
        <p>Un<span> para</span>graphe.</p>
        <ul><li><span>droit A</span></li><li>droit B<ol><li>un</li><li>deux</li></ol></li></ul>
        <table><caption>Jours</caption><tr><th>Type</th><th>Jours</th></tr>
        <tr><td>CP | RTT</td><td>25</td></tr></table>
        <pre><code class="language-sql">select *
  from conges</code></pre></body></html>""",
        encoding="utf-8",
    )

    extraction = html.extract(path, LIMITS)

    assert extraction.blocks == (
        heading("Les congés", 1),
        paragraph("Texte nu écrit sur deux lignes.\nSuite."),
        paragraph("Un paragraphe."),
        Block(BlockKind.LIST, ("- droit A", "- droit B", "  1. un", "  2. deux")),
        paragraph("Jours"),
        Block(
            BlockKind.TABLE,
            ("| CP \\| RTT | 25 |",),
            header=("| Type | Jours |", "| --- | --- |"),
        ),
        Block(BlockKind.CODE, ("select *", "  from conges"), language="sql"),
    )
    assert extraction.facts.title == "Congés payés"
    assert extraction.facts.keywords == ("congés", "RTT")
    assert extraction.facts.language == "fr-FR"
    assert extraction.facts.metadata == {"description": "Le guide"}
    assert extraction.facts.category == "RH"
    assert extraction.facts.version == "1.10"
    assert extraction.facts.superseded
    assert extraction.facts.valid_from == datetime(2024, 1, 31, tzinfo=UTC)
    assert extraction.facts.valid_until is None


def test_a_page_of_navigation_alone_is_read() -> None:
    """Better a menu than nothing."""
    assert html.blocks_of("<nav><p>Accueil</p></nav>") == [paragraph("Accueil")]


def test_navigation_is_read_where_nothing_else_remains(tmp_path: Path) -> None:
    """The second reading keeps what the first leaves out."""
    path = tmp_path / "menu.html"
    path.write_text("<body><nav><a>Tarifs</a></nav><script>x</script></body>")

    assert html.extract(path, LIMITS).blocks == (paragraph("Tarifs"),)


def test_tables_that_arrange_the_page_are_read_as_text() -> None:
    """Headings and paragraphs inside layout tables keep their roles."""
    assert html.blocks_of(
        "<table><tr><td><h2>Menu</h2></td><td><table><tr><td>a</td><td>b</td></tr>"
        "<tr><td>c</td><td>d</td></tr></table></td></tr></table>"
    ) == [heading("Menu", 2), Block(BlockKind.TABLE, ("| a | b |", "| c | d |"))]


def test_cells_that_span_rows_stand_in_each_of_them() -> None:
    """Each row can be understood alone; spans stay within bounds."""
    blocks = html.blocks_of(
        '<table><tr><th rowspan=2>Quai</th><th colspan="2">Délai</th></tr>'
        "<tr><th>min</th><th>max</th></tr><tr><td>Q1</td><td>2</td><td>9</td></tr>"
        '<tr><td colspan="999999999">fin</td></tr></table>'
    )

    assert [row for block in blocks for row in (*block.header, *block.parts)] == [
        "| Quai | Délai |  |",
        "| --- | --- | --- |",
        "| Quai | min | max |",
        "| Q1 | 2 | 9 |",
        "| fin |  |  |",
    ]


def test_depth_is_no_danger() -> None:
    """A page nested far deeper than any stack is read."""
    depth = 20_000
    page = "<div>" * depth + "profond" + "</div>" * depth

    assert html.blocks_of(page) == [paragraph("profond")]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("cp1252", "iso-8859-1"), ("utf-8", "iso-8859-1"), ("utf-16", "utf-8"), ("cp1251", "cp1251")],
)
def test_the_declared_charset_is_believed_only_where_it_can_be_right(
    tmp_path: Path, encoding: str, declared: str
) -> None:
    """UTF-8 that decodes wins over a wrong declaration; Cyrillic needs a right one."""
    word = "Приложение" if encoding == "cp1251" else "cœur réglé"
    path = tmp_path / "page.html"
    path.write_bytes(f"<meta charset={declared}><p>{word}</p>".encode(encoding))

    assert html.extract(path, LIMITS).blocks == (paragraph(word),)
