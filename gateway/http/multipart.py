"""Files uploaded as multipart forms; a file on its way is kept on disk, not in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from chassis.errors import InvalidArgument
from gateway.http.errors import invalid_request
from gateway.http.models.documents import UploadFields
from gateway.incoming_files import IncomingFile

MAX_FIELDS = 64
MAX_FIELD_BYTES = 64 * 1024
CHUNK_BYTES = 256 * 1024


@asynccontextmanager
async def uploaded_file(
    request: Request,
) -> AsyncIterator[tuple[IncomingFile, AsyncIterator[bytes]]]:
    """Yields the one file of a form, described by the other fields.

    InvalidArgument: no form, no file, more than one, a field that is unknown or malformed.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidArgument(
            "send the file as multipart/form-data with the fields file and workspace",
            field="Content-Type",
        )
    try:
        form = await request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES)
    except HTTPException as error:
        raise InvalidArgument(f"the form cannot be read: {error.detail}") from error
    try:
        file = _file_of(form)
        fields = _fields_of(form)
        yield fields.incoming_file(file.filename or "", file.size), _chunks(file)
    finally:
        await form.close()


def _file_of(form: FormData) -> UploadFile:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InvalidArgument("the form holds no file in the field file", field="file")
    return file


def _fields_of(form: FormData) -> UploadFields:
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
    try:
        return UploadFields.model_validate(given)
    except ValidationError as error:
        raise invalid_request(error.errors(include_url=False)) from error


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk
