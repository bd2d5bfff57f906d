"""Rankings in TREC's run format: `question Q0 document rank score tag`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from justesse.evaluation.formats.lines import text_of
from justesse.evaluation.judged_set import BadSetError

Rankings = Mapping[str, Sequence[str]]
"""Document ids by question id, best first."""


def write_run(path: Path, rankings: Rankings, tag: str) -> None:
    """Writes rankings; the score falls with the rank, since readers sort by it."""
    lines = [
        f"{_word(question)} Q0 {_word(document)} {rank} {1.0 / rank:.6f} {_word(tag)}\n"
        for question, documents in rankings.items()
        for rank, document in enumerate(documents, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def read_run(path: Path) -> Rankings:
    """Reads rankings, each sorted by falling score; ties keep the order of their ranks."""
    found: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for line, text in enumerate(text_of(path).splitlines(), start=1):
        cells = text.split()
        if not cells:
            continue
        if len(cells) != 6:
            raise BadSetError(f"{path}, line {line}: {len(cells)} columns instead of 6")
        try:
            found[cells[0]].append((-float(cells[4]), int(cells[3]), cells[2]))
        except ValueError as error:
            raise BadSetError(f"{path}, line {line}: rank or score is no number") from error
    return {
        question: list(dict.fromkeys(document for _, _, document in sorted(places)))
        for question, places in found.items()
    }


def _word(text: str) -> str:
    """Returns an id without white space, which would make two columns of it."""
    return "_".join(text.split()) or "_"
