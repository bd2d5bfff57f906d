"""Fields of the BM25 index, and the terms that go into them.

Each language has fields of its own. Their texts are terms of `text_analysis` joined by blanks, so
every part of the system analyses alike; tantivy only splits at the blanks.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import tantivy

from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.embedded.store.passage_rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage
from text_analysis.language import detect_language
from text_analysis.tokens import ANALYZER_VERSION, Analyzer

ID_FIELD = "id"
LAYOUT = f"1/{ANALYZER_VERSION}"
"""Names the fields and the analysis: an index of another layout must be built anew."""

# BM25 judges a field's length by the average over all passages. Filled up to an equal length, a
# title or keyword does not lose its weight because most documents have none.
_SHORT_LENGTH = 12
_FILLER = "\x01"

_PARTS = ("title", "keywords", "body")
_TOKENIZER = "terms"
_ALL_LANGUAGES = ("fr", "en")


def languages_of(workspace: WorkspaceLanguage) -> tuple[str, ...]:
    """Returns the languages a query is analysed in, the likeliest first."""
    return _ALL_LANGUAGES if workspace is WorkspaceLanguage.AUTO else (workspace.value,)


def build_schema() -> Any:
    """Returns the tantivy schema: the passage id, and the text fields of every language."""
    builder = tantivy.SchemaBuilder()
    # Signed: tantivy-py 0.27 deletes nothing by a term of an unsigned field, without an error.
    builder.add_integer_field(ID_FIELD, stored=False, indexed=True, fast=True)
    for language in _ALL_LANGUAGES:
        for part in _PARTS:
            builder.add_text_field(
                f"{part}_{language}", stored=False, tokenizer_name=_TOKENIZER, index_option="freq"
            )
    return builder.build()


def register_tokenizer(index: Any) -> None:
    """Makes the tokenizer of the text fields known to an opened index."""
    tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, tokenizer)


def boosts(languages: tuple[str, ...], settings: LexicalSettings) -> dict[str, dict[str, float]]:
    """Returns the weight of each field of positive weight, by language."""
    weights = dict(
        zip(
            _PARTS,
            (settings.title_boost, settings.keywords_boost, settings.body_boost),
            strict=True,
        )
    )
    return {
        language: {f"{part}_{language}": weight for part, weight in weights.items() if weight > 0}
        for language in languages
    }


def document_from(entry: LexicalEntry, languages: tuple[str, ...]) -> Any:
    """Returns the tantivy document of a passage, in the fields of its language.

    Where the document does not tell its language and there is a choice, the text decides.
    """
    known = entry.language in languages
    language = entry.language if known else detect_language(entry.text, languages)
    document = tantivy.Document()
    document.add_integer(ID_FIELD, entry.passage_id)
    for part, text in _texts(entry).items():
        terms = _body_terms(text, language) if part == "body" else _short_terms(text, language)
        document.add_text(f"{part}_{language}", terms)
    return document


def query_terms(text: str, language: str) -> list[str]:
    """Returns the terms of a query, each once, in order."""
    return list(dict.fromkeys(analyzer(language).terms(text)))


@lru_cache
def analyzer(language: str) -> Analyzer:
    """Returns the analyzer of a language; all threads share it."""
    return Analyzer(language)


def _body_terms(text: str, language: str) -> str:
    return " ".join(analyzer(language).terms(text))


# Passages of a document share title and keywords, often the headings too.
@lru_cache(1_000)
def _short_terms(text: str, language: str) -> str:
    terms = analyzer(language).terms(text)
    return " ".join((*terms, *(_FILLER,) * (_SHORT_LENGTH - len(terms))))


def _texts(entry: LexicalEntry) -> Mapping[str, str]:
    # A blank line between the parts: no term reaches from one into the next.
    return {
        "title": "\n\n".join((entry.title, *entry.heading_path)),
        "keywords": "\n\n".join(entry.keywords),
        "body": entry.text,
    }
