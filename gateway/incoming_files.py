"""Files on their way in, and what became of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from gateway.documents import MetadataValue


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """Describes a file to take in; what is left empty is read from the file.

    The ending of the file name decides the type. `byte_count` is what the sender announced: an
    upload that breaks off can look like one that ended. With `keep_previous` the state that is
    replaced stays as a document of its own.
    """

    workspace: str
    file_name: str
    external_id: str = ""
    title: str = ""
    keywords: tuple[str, ...] = ()
    source_uri: str = ""
    category: str = ""
    language: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    version: str = ""
    superseded: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    byte_count: int | None = None
    keep_previous: bool = False

    @property
    def document_id(self) -> str:
        """The id it was given, otherwise its file name with composed accents.

        Some systems write the accents of file names as characters of their own.
        """
        return self.external_id or unicodedata.normalize("NFC", self.file_name)


class IngestionOutcome(Enum):
    """What became of a file."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What became of a file.

    `space_id` is the space of the new vectors, empty where none were made;
    `awaiting_passage_count` passages wait to be embedded and are found by their words meanwhile.
    """

    outcome: IngestionOutcome
    external_id: str
    title: str
    passage_count: int
    awaiting_passage_count: int = 0
    space_id: str = ""
    warnings: tuple[str, ...] = ()
    kept_vector_count: int = 0
