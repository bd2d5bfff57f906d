"""Language work shared by search, rewriting and ingestion: normalisation, tokens, sentences, languages."""
