"""Lines that PDF pages repeat at their edges."""

from gateway.ingestion.extraction.pdf_lines import Line
from gateway.ingestion.extraction.pdf_margins import without_repeated_margins


def pages(*texts: list[str]) -> list[Line]:
    """Lines of pages from 1, each line below the one before."""
    return [
        Line(number, text, top=800.0 - 14 * row, bottom=800.0 - 14 * row, size=11.0)
        for number, lines in enumerate(texts, start=1)
        for row, text in enumerate(lines)
    ]


def body(number: int) -> list[str]:
    """Lines that differ from page to page."""
    return [f"{word} {'abcdefgh'[number]}" for word in ("un", "deux", "trois", "quatre", "cinq")]


def test_repeated_headers_and_footers_are_kept_once() -> None:
    """Numbers that grow with the page do not make them different; bare page numbers vanish."""
    lines = pages(*[["Guide 2024", *body(n), f"Page {n + 7} sur 12", f"{n}"] for n in range(1, 5)])

    kept = [line.text for line in without_repeated_margins(lines, 4)]

    assert kept == ["Guide 2024", *body(1), "Page 8 sur 12", *body(2), *body(3), *body(4)]


def test_margins_of_left_and_right_pages_are_told_apart() -> None:
    """Either kind is repeated on its own pages."""
    lines = pages(*[["Droite" if n % 2 else "Gauche", *body(n)] for n in range(1, 7)])

    kept = [line.text for line in without_repeated_margins(lines, 6)]

    assert kept.count("Droite") == kept.count("Gauche") == 1
    assert len(kept) == 2 + 6 * 5


def test_other_numbers_make_other_lines() -> None:
    """Sums at the foot of pages are no page numbers."""
    totals = ["Total 120", "Total 80", "Total 512", "Total 7"]
    lines = pages(*[[*body(n), total] for n, total in enumerate(totals, start=1)])

    assert without_repeated_margins(lines, 4) == lines


def test_lines_inside_pages_and_on_few_pages_stay() -> None:
    """Only edges, and only from three pages on."""
    inside = pages(*[[*body(n), "La même phrase", *body(n + 1)] for n in range(1, 5)])
    few = pages(["Guide", *body(1)], ["Guide", *body(2)])

    assert [line.text for line in without_repeated_margins(inside, 4)].count("La même phrase") == 4
    assert without_repeated_margins(few, 2) == few
