"""Adds the text in images to that of a file, page by page.

A page that cannot be read costs its own text only, and is named.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from gateway.ingestion.extraction.blocks import Block, Extraction
from gateway.ingestion.extraction.page_numbers import number_ranges
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason

ReadPage = Callable[[int], Awaitable[Extraction]]


async def with_image_texts(
    extraction: Extraction, read_page: ReadPage, most_pages: int
) -> Extraction:
    """Returns the extraction with the pages that `read_page` reads in their places.

    Raises FileRefused where the file holds no other text and none can be read in its images.
    """
    texts: dict[int, Sequence[Block]] = {}
    refusals: dict[int, FileRefused] = {}
    for number in extraction.image_pages[:most_pages]:
        try:
            texts[number] = (await read_page(number)).blocks
        except FileRefused as refusal:
            refusals[number] = refusal
    blocks = (*extraction.blocks, *(block for page in texts.values() for block in page))
    warnings = (*extraction.warnings, *_warnings(texts, refusals, extraction, most_pages))
    if not blocks:
        reason = next(iter(refusals.values())).reason if refusals else RefusalReason.NO_TEXT
        message = "; ".join(("no text can be read in the images of the file", *warnings))
        raise FileRefused(reason, message)
    # Sorting keeps the order within a page.
    ordered = tuple(sorted(blocks, key=_page_of))
    return replace(extraction, blocks=ordered, warnings=warnings, image_pages=())


def _warnings(
    texts: dict[int, Sequence[Block]],
    refusals: dict[int, FileRefused],
    extraction: Extraction,
    most_pages: int,
) -> Iterable[str]:
    read = [number for number, blocks in texts.items() if blocks]
    if read:
        yield f"pages read in their images, where mistakes are likelier: {number_ranges(read)}"
    empty = [number for number, blocks in texts.items() if not blocks]
    if empty:
        yield f"pages whose images hold no text: {number_ranges(empty)}"
    for number, refusal in refusals.items():
        yield f"page {number}: {refusal.message}"
    left = extraction.image_pages[most_pages:]
    if left:
        yield f"images of at most {most_pages} pages are read, not these: {number_ranges(left)}"


def _page_of(block: Block) -> int:
    _, _, number = block.location.rpartition(" ")
    return int(number) if number.isdigit() else 0
