"""Office packages whose bytes depend on their contents only.

Entries are stored uncompressed with one fixed date, so that neither the clock nor the version of
the compression library shows in the file.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from datetime import datetime

PACKAGE_TIME = datetime(2024, 12, 1)
_UNIX = 3


def repack(package: bytes, replacements: Mapping[str, bytes] | None = None) -> bytes:
    """Returns the package with the same entries in the same order, free of dates.

    Args:
        package: the bytes of a zip file.
        replacements: new contents by entry name, for entries that hold the time of writing.
    """
    replaced = replacements or {}
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(package)) as original,
        zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as written,
    ):
        for name in original.namelist():
            entry = zipfile.ZipInfo(name, PACKAGE_TIME.timetuple()[:6])
            entry.create_system = _UNIX
            entry.external_attr = 0o644 << 16
            content = replaced[name] if name in replaced else original.read(name)
            written.writestr(entry, content)
    return target.getvalue()
