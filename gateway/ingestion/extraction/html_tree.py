"""Walks through HTML trees of any depth, and reads text out of them."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

BLOCK_TAGS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
"""Elements that stand on lines of their own."""

_BLANKS = re.compile(r"\s+")


def traverse(
    root: LexborNode,
    enter: Callable[[LexborNode], bool],
    leave: Callable[[LexborNode], None] = lambda node: None,
) -> None:
    """Visits everything below `root` in order.

    `enter` says whether to go below a node; `leave` is called after what is below such a node.
    """
    node = root.child
    while node is not None:
        descend = enter(node)
        below = node.child if descend else None
        if below is not None:
            node = below
            continue
        if descend:
            leave(node)
        while node.next is None:
            above = node.parent
            if above is None or above.mem_id == root.mem_id:
                return
            node = above
            leave(node)
        node = node.next


def inline_text(root: LexborNode) -> str:
    """Returns the text below an element on one line; alternative texts of images included."""
    pieces: list[str] = []

    def enter(node: LexborNode) -> bool:
        pieces.append(own_text(node))
        return True

    def leave(node: LexborNode) -> None:
        if node.tag in BLOCK_TAGS:
            pieces.append(" ")

    traverse(root, enter, leave)
    return " ".join("".join(pieces).split())


def own_text(node: LexborNode) -> str:
    """Returns what a node itself adds to the text; elements around text add blanks at most."""
    if node.is_text_node:
        return _BLANKS.sub(" ", node.text_content or "")
    if node.tag == "img":
        alternative = (node.attributes.get("alt") or "").strip()
        return f" {alternative} " if alternative else " "
    return " " if node.tag == "br" or node.tag in BLOCK_TAGS else ""


def has_inside(root: LexborNode, selector: str) -> bool:
    """Says whether an element below `root` matches a CSS selector."""
    found = root.css_first(selector)
    return found is not None and found.mem_id != root.mem_id
