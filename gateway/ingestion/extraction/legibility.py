"""Cleans everything an extractor found, in one place for all formats."""

from __future__ import annotations

from dataclasses import replace

from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, FileFacts
from gateway.ingestion.extraction.characters import clean


def legible(extraction: Extraction) -> Extraction:
    """Returns the extraction with clean texts and without blocks that hold none.

    A warning says how many characters could not be read.
    """
    cleaner = _Cleaner()
    cleaned = map(cleaner.block, extraction.blocks)
    blocks = tuple(block for block in cleaned if any(part.strip() for part in block.parts))
    facts = cleaner.facts(extraction.facts)
    warnings = extraction.warnings
    if cleaner.dropped:
        warnings = (*warnings, f"unreadable characters dropped: {cleaner.dropped}")
    return replace(extraction, blocks=blocks, facts=facts, warnings=warnings)


class _Cleaner:
    def __init__(self) -> None:
        self.dropped = 0

    def text(self, text: str) -> str:
        cleaned, dropped = clean(text)
        self.dropped += dropped
        return cleaned

    def block(self, block: Block) -> Block:
        parts = tuple(self.text(part) for part in block.parts)
        if block.kind is not BlockKind.CODE:
            parts = tuple(part for part in parts if part.strip())
        return replace(
            block,
            parts=parts,
            header=tuple(self.text(row) for row in block.header),
            location=self.text(block.location).strip(),
        )

    def facts(self, facts: FileFacts) -> FileFacts:
        keywords = (self.text(word).strip() for word in facts.keywords)
        return replace(
            facts,
            title=self.text(facts.title).strip(),
            keywords=tuple(dict.fromkeys(word for word in keywords if word)),
            category=self.text(facts.category).strip(),
            language=self.text(facts.language).strip(),
            version=self.text(facts.version).strip(),
            metadata={
                self.text(name): self.text(value) if isinstance(value, str) else value
                for name, value in facts.metadata.items()
            },
        )
