"""A set from a path: a folder in the BEIR layout, or a file of questions."""

from pathlib import Path

from justesse.evaluation.formats.beir import read_beir
from justesse.evaluation.formats.question_file import read_question_file
from justesse.evaluation.judged_set import BadSetError, JudgedSet


def read_set(path: Path, qrels: Path | None = None) -> JudgedSet:
    """Reads the set; raises BadSetError for what is no set."""
    if path.is_dir():
        return read_beir(path, qrels=qrels)
    if qrels is not None:
        raise BadSetError(f"labels of their own go with a folder in the BEIR layout, not {path}")
    if not path.exists():
        raise BadSetError(f"{path} is not there")
    return read_question_file(path)
