"""The n-th page of an answer, reached from the first by the tokens of the pages between."""

from typing import Unpack

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import Justesse, SearchResult
from justesse.client.search_options import SearchOptions


def searched_page(
    justesse: Justesse,
    workspace: str,
    query: str,
    page: int,
    timeout: float,
    **options: Unpack[SearchOptions],
) -> SearchResult:
    """Searches for a page, from 1; later ones keep the order of the first, and call no model.

    CommandError where the answer has fewer pages.
    """
    result = justesse.search(workspace, query, timeout=timeout, **options)
    for before in range(1, page):
        if not result.next_page_token:
            raise CommandError(
                f"there is no page {page}: the answer ends on page {before}; --candidates looks "
                "further",
                ExitCode.SOME_FAILED,
            )
        options["page_token"] = result.next_page_token
        result = justesse.search(workspace, query, timeout=timeout, **options)
    return result
