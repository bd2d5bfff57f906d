"""What an evaluation needs beside the client."""

from justesse.cli.failures import CommandError
from justesse.evaluation.figures import MissingExtraError, require_extra


def require_installed() -> None:
    """Ends the command with words unless figures and reports can be made."""
    try:
        require_extra()
    except MissingExtraError as error:
        raise CommandError(str(error)) from error
