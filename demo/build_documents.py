"""Builds the PDF, DOCX and XLSX documents of the demo from their readable sources.

`sources/DOMAIN/NAME.pdf.md` becomes `documents/DOMAIN/NAME.pdf`, and so on for docx and xlsx. Run
`python -m demo.build_documents` from the root of the repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from demo.document_source import DocumentSource, read_source
from demo.docx_document import docx_bytes
from demo.pdf_document import pdf_bytes
from demo.xlsx_document import xlsx_bytes

DEMO_FOLDER = Path(__file__).parent
_BUILDERS: dict[str, Callable[[DocumentSource], bytes]] = {
    ".docx": docx_bytes,
    ".pdf": pdf_bytes,
    ".xlsx": xlsx_bytes,
}


def build_all(sources: Path) -> Iterator[tuple[Path, bytes]]:
    """Yields each document's path relative to the documents folder, and its bytes, by path.

    Raises:
        ValueError: a source cannot be read or its name does not tell a known format.
    """
    for path in sorted(sources.glob("*/*.md")):
        target = path.relative_to(sources).with_suffix("")
        if target.suffix not in _BUILDERS:
            raise ValueError(f"{path.name}: name it NAME.pdf.md, NAME.docx.md or NAME.xlsx.md")
        yield target, _BUILDERS[target.suffix](read_source(path))


def main() -> None:
    """Writes all binary documents."""
    for target, content in build_all(DEMO_FOLDER / "sources"):
        (DEMO_FOLDER / "documents" / target).write_bytes(content)


if __name__ == "__main__":
    main()
