"""How an answer is written to the terminal: the words as they come, then what they rest on."""

from collections.abc import Sequence

from rich.console import Console

from justesse.cli.output import harmless, plain
from justesse.cli.receipts import draw_receipt
from justesse.client import AnswerEnd, AnswerOrigin, AnswerOutcome, Citation

_REMARKS = {
    AnswerEnd.TRUNCATED: "The model reached its cap of tokens: there may be more to say.",
    AnswerEnd.INCOMPLETE: "The model broke off: the answer is not whole.",
}
_EXTRACTED = "Quoted from the documents: no chat model wrote this answer."


def say(console: Console, text: str) -> None:
    """Writes a piece of an answer at once; of its control characters only line breaks count."""
    shown = "\n".join(harmless(line) for line in text.split("\n"))
    console.print(shown, end="", soft_wrap=True)
    console.file.flush()


def draw_outcome(console: Console, citations: Sequence[Citation], outcome: AnswerOutcome) -> None:
    """Draws what the numbers stand for, what is to be said of the answer, and the receipt."""
    console.print()
    console.print()
    for citation in citations:
        console.print(plain(f"[{citation.index}] {_place_of(citation)}", "cyan"))
    for remark in _remarks(outcome):
        console.print(plain(remark, "yellow"))
    console.print()
    draw_receipt(console, outcome.receipt)


def _remarks(outcome: AnswerOutcome) -> list[str]:
    refusal = outcome.refusal
    remarks = [] if refusal is None else [f"Not answered: {refusal.reason}: {refusal.detail}"]
    if outcome.origin is AnswerOrigin.EXTRACTED:
        remarks.append(_EXTRACTED)
    if outcome.end in _REMARKS:
        remarks.append(_REMARKS[outcome.end])
    return remarks


def _place_of(citation: Citation) -> str:
    headings = " › ".join(each for each in citation.heading_path if each != citation.title)
    parts = (citation.title, citation.document_id, citation.page, headings)
    return " · ".join(dict.fromkeys(part for part in parts if part))
