"""The rewriter of a mesh without a chat model: the glossary, and keywords."""

from __future__ import annotations

from dataclasses import replace

from rewriter_svc.glossary import synonyms_for
from rewriter_svc.keywords import keywords_of
from rewriter_svc.language import query_language, terms_of
from rewriter_svc.rewriting import (
    EVEN_WEIGHTS,
    ListWeights,
    Rewrite,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
    StageReport,
    original,
)

PROVIDER = "rules"

_UNCHANGED = StageReport(
    StageOutcome.SKIPPED,
    reason="NOT_CONFIGURED",
    detail="no chat model is configured, so the query is searched as it was asked",
)
# BM25 drops the same words by itself, so a second list of it would only count the first twice;
# words of the glossary are new to it. docs/quality.md has the figures.
_KEYWORDS = ListWeights(dense=0.5, lexical=0.0)


class RuleRewriter:
    """Adds what the glossary says of the query's words; needs no time and no model.

    With `keywords`, the words that only ask are dropped, for vectors alone. Without, a query that
    comes without a glossary stays as it is, and callers hear that for `unchanged_for_s` seconds the
    next ones would too: at most so much later they use a service that has got a model.
    """

    def __init__(self, *, keywords: bool = False, unchanged_for_s: float = 10.0) -> None:
        self._keywords = keywords
        self._unchanged_for_s = unchanged_for_s

    async def rewrite(self, request: RewriteRequest) -> Rewrite:
        """Returns the query in other words, or itself where nothing would be gained."""
        if not self._keywords and not request.glossary:
            rewrite = original(request.query, _UNCHANGED)
            return replace(rewrite, unchanged_for_s=self._unchanged_for_s)
        language = query_language(request.query, request.language)
        synonyms = synonyms_for(request.query, request.glossary, language)
        query = " ".join(request.query.split())
        keywords = keywords_of(query, language) if self._keywords else query
        if (
            not terms_of(keywords, language)
            or keywords.casefold() == query.rstrip(" ?!.").casefold()
        ):
            keywords = query
        if not synonyms and keywords == query:
            return original(request.query, _UNCHANGED)
        return Rewrite(
            " ".join([keywords, *synonyms]),
            request.query,
            RewriteOrigin.RULES,
            StageReport(StageOutcome.RAN, provider=PROVIDER),
            EVEN_WEIGHTS if synonyms else _KEYWORDS,
        )
