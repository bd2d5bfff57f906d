"""Cross-encoders behind an HTTP endpoint: hosted ones, and servers of one's own."""
