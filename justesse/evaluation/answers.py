"""What a mesh answered to the questions of a set, and the file that keeps it.

One line of JSON is written for each answer as it comes, so that a run that is broken off goes on
where it stopped.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from justesse.client.search_result import SearchResult


@dataclass(frozen=True, slots=True)
class DocumentPlaces:
    """Where the best passage of a document stood after each stage; ranks from 1, None for none."""

    document_id: str
    rank: int
    dense_rank: int | None
    bm25_rank: int | None
    fused_rank: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The documents found for a question, best first, each by its best passage.

    `stage_ms` has milliseconds by stage, `degraded` the stages that should have worked and did
    not. `best_cosines` has the highest cosine of any hit by space. `cost` sums what is known of the
    costs, in `currency`.
    """

    question_id: str
    documents: tuple[DocumentPlaces, ...]
    latency_ms: float
    stage_ms: Mapping[str, float]
    best_cosines: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    currency: str = ""

    @property
    def ranking(self) -> list[str]:
        """The document ids, best first."""
        return [place.document_id for place in self.documents]

    @classmethod
    def of(cls, question_id: str, result: SearchResult) -> "Answer":
        """Returns what an evaluation needs of a search result."""
        places: dict[str, DocumentPlaces] = {}
        for hit in result.hits:
            document = hit.source.external_id
            if document not in places:
                scores = hit.scores
                places[document] = DocumentPlaces(
                    document,
                    len(places) + 1,
                    scores.dense_rank,
                    scores.bm25_rank,
                    scores.fused_rank,
                )
        receipt = result.receipt
        return cls(
            question_id,
            tuple(places.values()),
            receipt.latency_ms,
            {report.stage: report.latency_ms for report in receipt.stages},
            _best_cosines(result),
            tuple(report.stage for report in receipt.stages if report.outcome == "degraded"),
            sum(report.input_token_count for report in receipt.stages),
            sum(report.output_token_count for report in receipt.stages),
            sum(cost.amount for cost in receipt.costs),
            receipt.costs[0].currency if receipt.costs else "",
        )


def _best_cosines(result: SearchResult) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit in result.hits:
        for score in hit.scores.space_scores:
            if score.cosine is not None:
                best[score.space_id] = max(score.cosine, best.get(score.space_id, -1.0))
    return best


class AnswerFile:
    """The answers of one configuration; a context manager that opens the file to add to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None

    def __enter__(self) -> "AnswerFile":
        whole = "".join(f"{line}\n" for line in self._whole_lines())
        # A line that was cut by the end of the process is dropped.
        self.path.write_text(whole, encoding="utf-8")
        self._file = self.path.open("a", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, answer: Answer) -> None:
        """Writes one answer."""
        if self._file is None:
            raise RuntimeError(f"{self.path} is not open")
        self._file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")
        self._file.flush()

    def read(self) -> dict[str, Answer]:
        """Returns the answers by question id; none where the file is not there."""
        answers = (_answer(json.loads(line)) for line in self._whole_lines())
        return {answer.question_id: answer for answer in answers}

    def _whole_lines(self) -> Iterator[str]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            try:
                json.loads(line)
            except json.JSONDecodeError:
                continue
            yield line


def _answer(value: dict[str, Any]) -> Answer:
    documents = tuple(DocumentPlaces(**place) for place in value.pop("documents"))
    return Answer(documents=documents, degraded=tuple(value.pop("degraded")), **value)
