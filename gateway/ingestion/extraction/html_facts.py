"""What HTML pages say of themselves: title, language and `meta` elements."""

from __future__ import annotations

from datetime import datetime

from selectolax.lexbor import LexborHTMLParser

from gateway.ingestion.extraction.blocks import FileFacts, MetadataValue
from gateway.ingestion.extraction.fact_values import keywords_from, moment_from, truth_from


def facts_of(tree: LexborHTMLParser) -> FileFacts:
    """Reads the head of a page; values that make no sense say nothing."""
    title = tree.css_first("title")
    root = tree.css_first("html")
    description = _stated(tree, "description")
    metadata: dict[str, MetadataValue] = {"description": description} if description else {}
    return FileFacts(
        title=" ".join(title.text(deep=True).split()) if title is not None else "",
        keywords=keywords_from(_stated(tree, "keywords")),
        category=_stated(tree, "category"),
        language=(root.attributes.get("lang") or "").strip() if root is not None else "",
        version=_stated(tree, "version"),
        superseded=truth_from(_stated(tree, "superseded")) or False,
        valid_from=_moment(tree, "valid_from"),
        valid_until=_moment(tree, "valid_until"),
        metadata=metadata,
    )


def _stated(tree: LexborHTMLParser, name: str) -> str:
    node = tree.css_first(f'meta[name="{name}" i]')
    content = node.attributes.get("content") if node is not None else None
    return " ".join((content or "").split())


def _moment(tree: LexborHTMLParser, name: str) -> datetime | None:
    return moment_from(_stated(tree, name))
