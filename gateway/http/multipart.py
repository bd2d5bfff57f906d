"""Files uploaded as multipart forms; a file on its way is kept on disk, not in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from chassis.errors import InvalidArgument
from gateway.document_jobs import SubmittedFile
from gateway.http.errors import invalid_request
from gateway.http.models.documents import UploadFields
from gateway.incoming_files import IncomingFile

MAX_FILES = 1_000
MAX_FIELDS = 64
MAX_FIELD_BYTES = 64 * 1024
CHUNK_BYTES = 256 * 1024

_FOR_ONE_FILE = ("external_id", "title", "source_uri")


@asynccontextmanager
async def uploaded_file(
    request: Request,
) -> AsyncIterator[tuple[IncomingFile, AsyncIterator[bytes]]]:
    """Yields the one file of a form, described by the other fields.

    InvalidArgument: no form, no file, more than one, a field that is unknown or malformed.
    """
    async with _form_of(request, 1, "the fields file and workspace") as form:
        file = _file_of(form)
        fields = _fields_of(form)
        yield fields.incoming_file(file.filename or "", file.size), _chunks(file)


@asynccontextmanager
async def uploaded_files(
    request: Request, workspace: str
) -> AsyncIterator[AsyncIterator[SubmittedFile]]:
    """Yields the files of a form for a workspace; the other fields describe each of them.

    InvalidArgument: no form, no file, a field that is unknown, malformed, or for one file only
    where there are several.
    """
    async with _form_of(request, MAX_FILES, "one field file for each file") as form:
        files = [file for file in form.getlist("file") if isinstance(file, UploadFile)]
        if not files:
            raise InvalidArgument("the form holds no file in the field file", field="file")
        fields = _fields_of(form, workspace=workspace)
        for name in _FOR_ONE_FILE if len(files) > 1 else ():
            if getattr(fields, name):
                raise InvalidArgument(f"{name} is for a single file, not {len(files)}", field=name)
        yield _submitted(files, fields)


async def _submitted(
    files: Sequence[UploadFile], fields: UploadFields
) -> AsyncIterator[SubmittedFile]:
    for file in files:
        described = fields.incoming_file(file.filename or "", file.size)
        yield SubmittedFile(described, _chunks(file))


@asynccontextmanager
async def _form_of(request: Request, max_files: int, what: str) -> AsyncIterator[FormData]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidArgument(
            f"send the file as multipart/form-data with {what}", field="Content-Type"
        )
    try:
        form = await request.form(
            max_files=max_files, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES
        )
    except HTTPException as error:
        raise InvalidArgument(f"the form cannot be read: {error.detail}") from error
    try:
        yield form
    finally:
        await form.close()


def _file_of(form: FormData) -> UploadFile:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InvalidArgument("the form holds no file in the field file", field="file")
    return file


def _fields_of(form: FormData, **known: str) -> UploadFields:
    """Reads the fields beside the files; `known` ones are told elsewhere and may not differ."""
    given: dict[str, object] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            continue
        if name == "keywords":
            given["keywords"] = [*form.getlist("keywords")]
        elif name in given:
            raise InvalidArgument(f"the form holds {name} more than once", field=name)
        else:
            given[name] = value
    for name, value in known.items():
        if given.setdefault(name, value) != value:
            raise InvalidArgument(
                f"{name} is {given[name]!r} in the form and {value!r} in the path", field=name
            )
    try:
        return UploadFields.model_validate(given)
    except ValidationError as error:
        raise invalid_request(error.errors(include_url=False)) from error


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk
