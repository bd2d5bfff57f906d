"""From hits to the context of a prompt."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.context.formats import (
    ContextFormat,
    ContextLanguage,
    NumberedSource,
    block_of,
    numbered_sources,
    written,
)
from gateway.context.prompts import system_prompt, user_prompt
from gateway.context.rules import ContextRules
from gateway.context.sources import Source, best_at_the_ends, bounded, current, merged
from gateway.context.work_instruction import NO_INSTRUCTION, WorkInstruction
from gateway.ingestion.chunking.measures import token_measure, whole
from gateway.questions import Hit

TOKENS_PER_CHARACTER = 0.35
"""Of French text, for which tokenizers need most, so rather too many than too few."""
_SHORTEST_CUT = 200
"""Characters; a source of which less would be left is left out."""

_tokens = token_measure(TOKENS_PER_CHARACTER)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Passages that were found and are in no source, by reason."""

    superseded: int = 0
    over_document_bound: int = 0
    over_budget: int = 0

    @property
    def count(self) -> int:
        """All of them."""
        return self.superseded + self.over_document_bound + self.over_budget


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A block of sources with the prompts around it; `token_estimate` is that of the block.

    `sources` are in the order of the block, `boundary` stands before and behind it. `is_cut` says
    that the only source was too long for the budget and ends early.
    """

    block: str
    style: ContextFormat
    language: ContextLanguage
    sources: tuple[NumberedSource, ...]
    system_prompt: str
    user_prompt: str
    boundary: str
    token_estimate: int
    left_out: LeftOut
    is_cut: bool = False


def build_context(
    question: str,
    hits: Sequence[Hit],
    rules: ContextRules | None = None,
    *,
    language: ContextLanguage = ContextLanguage.FRENCH,
    instruction: WorkInstruction = NO_INSTRUCTION,
    boundary: str = "",
) -> BuiltContext:
    """Builds the context of a question from its hits, best first.

    Superseded documents are left out; so are, from the worst on, passages beyond the bound of a
    document, and sources beyond the budget. Neighbouring passages become one source. The best
    source stands first, the second last. Without a `boundary` one is drawn.
    """
    rules = rules or ContextRules()
    valid = current(hits)
    kept = bounded(valid, rules.passages_per_document)
    candidates = merged(kept)
    chosen, is_cut = _within_budget(candidates, rules, language)
    sources = numbered_sources(best_at_the_ends(chosen), rules.style)
    block = _block(sources, rules.style, language)
    boundary = boundary or f"SOURCES-{secrets.token_hex(8)}"
    return BuiltContext(
        block=block,
        style=rules.style,
        language=language,
        sources=tuple(sources),
        system_prompt=system_prompt(sources, rules.style, language, boundary, instruction),
        user_prompt=user_prompt(block, question, language, boundary, instruction),
        boundary=boundary,
        token_estimate=estimated_tokens(block),
        left_out=LeftOut(
            superseded=len(hits) - len(valid),
            over_document_bound=len(valid) - len(kept),
            over_budget=len(kept) - sum(len(source.hits) for source in chosen),
        ),
        is_cut=is_cut,
    )


def estimated_tokens(text: str) -> int:
    """Estimates the tokens of a text, rather too many than too few."""
    return whole(_tokens(text))


def _within_budget(
    candidates: Sequence[Source], rules: ContextRules, language: ContextLanguage
) -> tuple[list[Source], bool]:
    """Returns the best sources whose block fits, best first, and whether the only one is cut.

    One that does not fit is passed over for a shorter one behind it.
    """
    style, budget = rules.style, rules.token_budget
    border = _tokens(block_of(["", ""], style, language)) - _tokens(block_of([""], style, language))
    left = budget - _tokens(block_of([""], style, language)) + border
    chosen = []
    for numbered in numbered_sources(candidates, style):
        # The number in the block may have as many digits as that of the last.
        cost = _tokens(written(replace(numbered, index=len(candidates)), style)) + border
        if cost <= left:
            chosen.append(numbered.source)
            left -= cost
    while chosen and estimated_tokens(_block_of_sources(chosen, style, language)) > budget:
        chosen.pop()
    if chosen or not candidates:
        return chosen, False
    shortened = _cut_to_budget(candidates[0], rules, language)
    return ([], False) if shortened is None else ([shortened], True)


def _cut_to_budget(source: Source, rules: ContextRules, language: ContextLanguage) -> Source | None:
    length = min(len(source.text), int(rules.token_budget / TOKENS_PER_CHARACTER))
    while length >= _SHORTEST_CUT:
        shortened = source.cut(length)
        tokens = _tokens(_block_of_sources([shortened], rules.style, language))
        if tokens <= rules.token_budget:
            return shortened
        # At least the characters that are too many, at the least that one may cost.
        length -= max(1, int(tokens - rules.token_budget))
    return None


def _block_of_sources(
    sources: Sequence[Source], style: ContextFormat, language: ContextLanguage
) -> str:
    return _block(numbered_sources(best_at_the_ends(sources), style), style, language)


def _block(
    sources: Sequence[NumberedSource], style: ContextFormat, language: ContextLanguage
) -> str:
    return block_of([written(source, style) for source in sources], style, language)
