"""A chat model that is shown the numbered candidates and answers with their order."""
