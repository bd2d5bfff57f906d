"""How fast texts become terms, against the least that any stemming analysis does.

The plain loop splits at blanks and stems each word with the cache of PyStemmer; it neither
normalises, nor drops stop words, nor keeps identifiers. All read the same passages, rounds
interleaved, once the caches are warm; `first reading` starts with empty ones.
"""

import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

import Stemmer

from text_analysis.tokens import Analyzer

_SOURCES = Path(__file__).parents[1] / "demo" / "sources"
_PASSAGE_WORDS = 100

Reading = Callable[[], object]


def measure(quick: bool) -> dict[str, float]:
    """Returns thousands of words a second of each way, and their ratios."""
    passages = _passages()
    words = sum(len(passage.split()) for passage in passages)
    analyzer = Analyzer("fr")
    seconds = _medians(
        {
            "split and stem": _split_and_stem(passages),
            "terms": lambda: [analyzer.terms(passage) for passage in passages],
            "terms, first reading": lambda: _first_reading(passages),
            "analyze": lambda: [analyzer.analyze(passage) for passage in passages],
        },
        5 if quick else 31,
    )
    return {
        **{f"{name}, thousand words/s": words / 1e3 / took for name, took in seconds.items()},
        "terms / split and stem, words/s": seconds["split and stem"] / seconds["terms"],
        "terms / analyze, words/s": seconds["analyze"] / seconds["terms"],
    }


def _medians(readings: dict[str, Reading], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in readings}
    for round_number in range(rounds + 1):
        for name, read in readings.items():
            started = time.perf_counter()
            read()
            # The first round warms the caches.
            if round_number:
                times[name].append(time.perf_counter() - started)
    return {name: median(measured) for name, measured in times.items()}


def _split_and_stem(passages: Sequence[str]) -> Reading:
    stemmer = Stemmer.Stemmer("french")

    def read() -> object:
        return [[stemmer.stemWord(word) for word in passage.split()] for passage in passages]

    return read


def _first_reading(passages: Sequence[str]) -> object:
    analyzer = Analyzer("fr")
    return [analyzer.terms(passage) for passage in passages]


def _passages() -> list[str]:
    """Returns the texts of the demonstration in passages of 100 words, line breaks kept."""
    passages: list[str] = []
    for path in sorted(_SOURCES.rglob("*.md")):
        pieces = iter(path.read_text("utf-8").split(" "))
        while passage := " ".join(islice(pieces, _PASSAGE_WORDS)):
            passages.append(passage)
    return passages
