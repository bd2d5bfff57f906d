"""The folder of a run: its settings, its answers, its report; it resumes what was broken off."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from justesse.evaluation.answers import Answer, AnswerFile
from justesse.evaluation.formats.trec_run import write_run
from justesse.evaluation.judged_set import BadSetError, JudgedSet
from justesse.evaluation.report.csv_file import write_csv
from justesse.evaluation.report.html_file import write_html
from justesse.evaluation.report.result_file import write_result
from justesse.evaluation.results import RunResult


class RunFolder:
    """Holds settings.json, answers/, runs/, result.json, figures.csv, report.html and mesh/.

    `settings` are what the answers depend on; a folder with answers to other settings is refused
    with BadSetError.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = dict(settings)
        path.mkdir(parents=True, exist_ok=True)
        file = path / "settings.json"
        if file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            if found != self.settings:
                differing = sorted(
                    name
                    for name in found.keys() | self.settings.keys()
                    if found.get(name) != self.settings.get(name)
                )
                raise BadSetError(
                    f"{path} holds a run with other settings ({', '.join(differing)}); name "
                    "another folder with --out, or delete it"
                )
        else:
            text = json.dumps(self.settings, indent=2, ensure_ascii=False)
            file.write_text(text + "\n", encoding="utf-8")
        for name in ("answers", "runs"):
            (path / name).mkdir(exist_ok=True)

    @property
    def mesh(self) -> Path:
        """Data folder of a mesh of the run's own."""
        return self.path / "mesh"

    def answers(self, configuration: str) -> AnswerFile:
        """The answers of one configuration."""
        return AnswerFile(self.path / "answers" / f"{configuration}.jsonl")

    def write_rankings(self, configuration: str, answers: Mapping[str, Answer]) -> None:
        """Writes a TREC run file, in the order of the answers."""
        rankings = {question_id: answer.ranking for question_id, answer in answers.items()}
        write_run(self.path / "runs" / f"{configuration}.trec", rankings, configuration)

    def write_report(self, result: RunResult) -> None:
        """Writes JSON, CSV and HTML."""
        write_result(self.path / "result.json", result, self.settings)
        write_csv(self.path / "figures.csv", result)
        write_html(self.path / "report.html", result)


def fingerprint(judged: JudgedSet) -> str:
    """Returns a SHA-256 of all questions, labels and documents, in hexadecimal."""
    digest = hashlib.sha256()
    parts = (*map(asdict, judged.questions), *map(asdict, judged.documents))
    for part in parts:
        line = json.dumps(part, sort_keys=True, ensure_ascii=False, default=str)
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
