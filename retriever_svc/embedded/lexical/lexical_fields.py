"""Fields of the BM25 index, and the terms that go into them.

Each language has fields of its own. Their texts are terms of `text_analysis` joined by blanks, so
every part of the system analyses alike; tantivy only splits at the blanks.
"""

from typing import Any

import tantivy

from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.lexical_terms import ALL_LANGUAGES, PARTS, language_of, passage_terms
from retriever_svc.store.rows import LexicalEntry
from text_analysis.tokens import ANALYZER_VERSION

ID_FIELD = "id"
LAYOUT = f"1/{ANALYZER_VERSION}"
"""Names the fields and the analysis: an index of another layout must be built anew."""

_TOKENIZER = "terms"


def build_schema() -> Any:
    """Returns the tantivy schema: the passage id, and the text fields of every language."""
    builder = tantivy.SchemaBuilder()
    # Signed: tantivy-py 0.27 deletes nothing by a term of an unsigned field, without an error.
    builder.add_integer_field(ID_FIELD, stored=False, indexed=True, fast=True)
    for language in ALL_LANGUAGES:
        for part in PARTS:
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
            PARTS,
            (settings.title_boost, settings.keywords_boost, settings.body_boost),
            strict=True,
        )
    )
    return {
        language: {f"{part}_{language}": weight for part, weight in weights.items() if weight > 0}
        for language in languages
    }


def document_from(entry: LexicalEntry, languages: tuple[str, ...]) -> Any:
    """Returns the tantivy document of a passage, in the fields of its language."""
    language = language_of(entry, languages)
    document = tantivy.Document()
    document.add_integer(ID_FIELD, entry.passage_id)
    for part, terms in passage_terms(entry, language).items():
        document.add_text(f"{part}_{language}", " ".join(terms))
    return document
