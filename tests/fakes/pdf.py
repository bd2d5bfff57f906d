"""Small valid PDF files, written by hand."""

from __future__ import annotations

from collections.abc import Sequence


def pdf_file(
    pages: Sequence[Sequence[str]],
    *,
    title: str = "",
    subject: str = "",
    keywords: str = "",
    encrypted: bool = False,
    letter_gap: int = 0,
) -> bytes:
    """Returns a PDF with one line of text below the other on each page.

    Texts may hold every character of windows-1252; a line that begins with "# " is shown larger,
    and "~ drawn" stands for a figure without text. An
    encrypted file asks for a password that nobody knows. `letter_gap` sets letters apart, in
    thousandths of their size.
    """
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title %s /Subject %s /Keywords %s >>"
        % (_text(title), _text(subject), _text(keywords)),
    ]
    kids = []
    for lines in pages:
        content = _content(lines, letter_gap)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    trailer = b"/Root 1 0 R /Info 4 0 R"
    if encrypted:
        objects.append(
            b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"5a" * 32, b"a5" * 32)
        )
        trailer += b" /Encrypt %d 0 R /ID [<00> <00>]" % len(objects)
    return _assembled(objects, trailer)


def _content(lines: Sequence[str], letter_gap: int) -> bytes:
    shown = b" ".join(
        b"/F1 18 Tf 24 TL T* %s Tj /F1 11 Tf T* 14 TL" % _text(line[2:])
        if line.startswith("# ")
        else b"ET 60 700 200 40 re f BT"
        if line == "~ drawn"
        else b"%s T*" % _shown(line, letter_gap)
        for line in lines
    )
    return b"BT /F1 11 Tf 60 780 Td 14 TL %s ET" % shown


def _shown(line: str, letter_gap: int) -> bytes:
    if not letter_gap:
        return b"%s Tj" % _text(line)
    return b"[%s] TJ" % (b" %d " % -letter_gap).join(map(_text, line))


def _text(text: str) -> bytes:
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return b"(%s)" % escaped.encode("cp1252")


def _assembled(objects: Sequence[bytes], trailer: bytes) -> bytes:
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    data += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(data)
