"""Where a rerank endpoint is, given what its operator wrote down."""

from urllib.parse import urlsplit

_LAST_WORDS = ("rerank", "reranking")


def base_and_path(url: str, dialect_path: str) -> tuple[str, str]:
    """Splits a URL into scheme with host, and the path to post to.

    A path that ends with `rerank` or `reranking` is taken as it is; to any other one the dialect's
    path is added, without repeating a version that is there (`/v1` and `/v1/rerank`).
    """
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    given = parts.path.rstrip("/")
    if given.rpartition("/")[2] in _LAST_WORDS:
        return base, given
    version, _, rest = dialect_path.removeprefix("/").partition("/")
    if rest and given.endswith(f"/{version}"):
        return base, f"{given}/{rest}"
    return base, given + dialect_path
