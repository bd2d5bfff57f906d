"""Looks for what is left of deleted content in the files of a retriever's data folder."""

from collections.abc import Iterable
from pathlib import Path

import orjson


def files_with(folder: Path, needles: Iterable[bytes]) -> dict[str, int]:
    """Returns, by path, how many of the byte strings a file holds; only files that hold any.

    Files that go while they are looked for hold none.
    """
    wanted = list(needles)
    found = {}
    for path in sorted(folder.rglob("*")):
        try:
            content = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            continue
        count = sum(needle in content for needle in wanted)
        if count:
            found[str(path.relative_to(folder))] = count
    return found


def indexed_entries(data: Path) -> list[tuple[int, int]]:
    """Returns entries and deleted entries of each BM25 index on disk.

    Its terms are packed, so that looking for their bytes alone would prove little.
    """
    counts = []
    for path in sorted(data.glob("workspaces/*/lexical/*/meta.json")):
        segments = orjson.loads(path.read_bytes())["segments"]
        deleted = [(one["deletes"] or {}).get("num_deleted_docs", 0) for one in segments]
        counts.append((sum(one["max_doc"] for one in segments), sum(deleted)))
    return counts
