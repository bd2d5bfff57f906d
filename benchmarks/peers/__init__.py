"""Systems that the retriever is compared with, each in a process of its own."""
