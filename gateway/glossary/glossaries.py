"""Lists and changes the glossaries of workspaces, for whichever door asks."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from chassis.errors import InvalidArgument
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.editing import MAX_ENTRIES, checked_entries, deleting, putting
from gateway.glossary.entry import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
    name_of,
)
from gateway.glossary.term_forms import languages_of
from gateway.ports import WorkspaceStore
from gateway.validation import check_page, check_slug

DEFAULT_PAGE_SIZE = 50


class Glossaries:
    """Checks what is asked for, and has it done in workspaces that are there."""

    def __init__(self, board: GlossaryBoard, workspaces: WorkspaceStore) -> None:
        self._board = board
        self._workspaces = workspaces

    async def page(self, workspace: str, page_size: int = 0, page_token: str = "") -> GlossaryPage:
        """Lists entries by term; `page_size` 0 means 50, at most 500.

        InvalidArgument: page size or token. NotFound: no such workspace. Unavailable: the database
        is lost; so it is with all methods.
        """
        check_page(workspace, page_size)
        after = _name_from(page_token)
        await self._languages(workspace)
        glossary = await self._board.read(workspace)
        following = [entry for entry in glossary.entries if entry.name > after]
        size = page_size or DEFAULT_PAGE_SIZE
        return GlossaryPage(
            tuple(following[:size]),
            _token_of(following[size - 1].name) if len(following) > size else "",
            len(glossary.entries),
            glossary.version,
        )

    async def put(
        self, workspace: str, entries: Sequence[GlossaryEntry], *, replace_all: bool = False
    ) -> GlossaryChange:
        """Adds entries or replaces those of equal terms, all or none; searches use them at once.

        With `replace_all` no other entry stays. InvalidArgument: an entry that cannot be one.
        AlreadyExists: another term that is the same to the search. FailedPrecondition: too many.
        """
        check_slug(workspace, "workspace")
        if not entries and not replace_all:
            raise InvalidArgument("entries is empty; name at least one", field="entries")
        languages = await self._languages(workspace)
        checked = checked_entries(entries, languages)
        edit = putting(checked, languages, replace_all=replace_all)
        before, after = await self._board.change(workspace, edit)
        old, new = set(before.entries), set(after.entries)
        old_names, new_names = ({entry.name for entry in each} for each in (old, new))
        return GlossaryChange(
            created_count=len(new_names - old_names),
            updated_count=sum(entry.name in old_names for entry in new - old),
            deleted_count=len(old_names - new_names),
            entry_count=len(after.entries),
            version=after.version,
        )

    async def delete(self, workspace: str, terms: Sequence[str]) -> GlossaryDeletion:
        """Deletes the entries of terms, whatever their case; one that is missing is no error."""
        check_slug(workspace, "workspace")
        if not 1 <= len(terms) <= MAX_ENTRIES:
            raise InvalidArgument(
                f"terms holds {len(terms)}; expected 1 to {MAX_ENTRIES}", field="terms"
            )
        await self._languages(workspace)
        before, after = await self._board.change(workspace, deleting(terms))
        there = {entry.name for entry in before.entries}
        return GlossaryDeletion(
            len(before.entries) - len(after.entries),
            tuple(term for term in dict.fromkeys(terms) if name_of(term) not in there),
            after.version,
        )

    async def _languages(self, workspace: str) -> tuple[str, ...]:
        """Asks the retriever, not memory: a glossary must not outlive its workspace."""
        described = await self._workspaces.describe_workspace(workspace)
        return languages_of(described.settings.language)


def _token_of(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _name_from(page_token: str) -> str:
    try:
        return base64.b64decode(page_token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument(
            "page_token was not given by this service; begin without one", field="page_token"
        ) from error
