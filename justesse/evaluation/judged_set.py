"""Labelled questions, and the documents they are about."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace


class BadSetError(ValueError):
    """A set that cannot be used; the text says which file, line and value, and what to do."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its labels.

    `grades` has a grade of 1 or more for each document that answers; it is empty for a question
    that no document answers. `domain` groups questions in reports; `metadata` is what whoever asks
    is known to look at, such as the product or the agreement.
    """

    question_id: str
    text: str
    grades: Mapping[str, int]
    domain: str = ""
    metadata: Mapping[str, str | float | bool] = field(default_factory=dict)

    @property
    def answerable(self) -> bool:
        """Whether a document answers it."""
        return bool(self.grades)


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """A document of the set."""

    document_id: str
    title: str
    text: str
    metadata: Mapping[str, str | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Questions, with the documents or, where a workspace holds them already, without."""

    name: str
    questions: tuple[Question, ...]
    documents: tuple[JudgedDocument, ...] = ()

    def require_metadata(self, names: Sequence[str]) -> None:
        """Raises BadSetError for the first question that lacks a value of one of these names."""
        for question in self.questions:
            missing = [name for name in names if name not in question.metadata]
            if missing:
                raise BadSetError(
                    f"{self.name}: question {question.question_id} has no metadata "
                    f"{', '.join(missing)} to filter by; it has "
                    f"{', '.join(sorted(question.metadata)) or 'none'}"
                )

    def sampled(self, count: int | None, seed: int) -> "JudgedSet":
        """Keeps `count` questions, the same for the same seed, in their order; None keeps all."""
        if count is None or count >= len(self.questions):
            return self
        kept = sorted(random.Random(seed).sample(range(len(self.questions)), count))
        return replace(self, questions=tuple(self.questions[at] for at in kept))

    def cut(self, count: int | None, seed: int) -> "JudgedSet":
        """Keeps every document that a question names, and others up to `count` in all.

        The others are the same for the same seed. None keeps all documents.
        """
        if count is None or count >= len(self.documents):
            return self
        judged = {name for question in self.questions for name in question.grades}
        others = [at for at, each in enumerate(self.documents) if each.document_id not in judged]
        room = max(0, count - (len(self.documents) - len(others)))
        kept = set(random.Random(seed).sample(others, min(room, len(others))))
        documents = (
            each
            for at, each in enumerate(self.documents)
            if at in kept or each.document_id in judged
        )
        return replace(self, documents=tuple(documents))


def checked_set(
    name: str, questions: Sequence[Question], documents: Sequence[JudgedDocument] = ()
) -> JudgedSet:
    """Returns the set; raises BadSetError for repeated ids, no question, or unknown documents."""
    if not questions:
        raise BadSetError(f"{name} holds no question")
    _refuse_repeated(name, "question", [question.question_id for question in questions])
    _refuse_repeated(name, "document", [document.document_id for document in documents])
    if documents:
        known = {document.document_id for document in documents}
        for question in questions:
            for missing in question.grades.keys() - known:
                raise BadSetError(
                    f"{name}: question {question.question_id} names document {missing}, which is "
                    "not in the corpus"
                )
    return JudgedSet(name, tuple(questions), tuple(documents))


def _refuse_repeated(name: str, kind: str, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise BadSetError(f"{name}: {kind} {each} stands there twice")
        seen.add(each)
