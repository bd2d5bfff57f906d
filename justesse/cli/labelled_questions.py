"""Questions whose answers are known, from a file, for the comparison of two spaces."""

from pathlib import Path

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import LabelledQuestion
from justesse.evaluation.formats.question_file import read_question_file
from justesse.evaluation.judged_set import BadSetError


def labelled_questions(path: Path) -> list[LabelledQuestion]:
    """Reads the questions that a document answers.

    Raises CommandError for a file that cannot be read, or that holds none.
    """
    try:
        found = read_question_file(path).questions
    except (BadSetError, OSError) as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    questions = [LabelledQuestion(one.text, list(one.grades)) for one in found if one.answerable]
    if not questions:
        raise CommandError(f"{path} holds no question that a document answers", ExitCode.USAGE)
    return questions
