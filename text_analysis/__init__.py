"""Language work of search, rewriting and ingestion: normalisation, tokens, sentences, languages."""
