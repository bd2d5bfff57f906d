"""What Milvus holds: a collection of terms for each workspace, one of vectors for each space."""
