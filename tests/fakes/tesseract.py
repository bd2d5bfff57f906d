"""A program `tesseract` that reads nothing, but says what it was given: size and languages."""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = """#!{python}
import sys
import time

if "--list-langs" in sys.argv:
    print("List of available languages:", *{languages!r}, sep="\\n")
    sys.exit()
image = sys.stdin.buffer.read()
kind, width, height = image.split(maxsplit=3)[:3]
if (int(width), int(height)) == {broken!r}:
    sys.exit("broken")
if (int(width), int(height)) == {slow!r}:
    time.sleep(60)
print(f"Image de {{int(width)}} sur {{int(height)}},\\nlue en {{sys.argv[4]}}, porte-")
print("conteneurs\\n\\n~ .\\n\\nÀ l’été")
"""


def install_tesseract(
    folder: Path,
    *,
    languages: tuple[str, ...] = ("eng", "fra", "osd"),
    broken: tuple[int, int] = (0, 0),
    slow: tuple[int, int] = (0, 0),
) -> None:
    """Puts the program into a folder; images of the sizes `broken` and `slow` make it fail."""
    program = folder / "tesseract"
    program.write_text(
        _PROGRAM.format(python=sys.executable, languages=languages, broken=broken, slow=slow),
        encoding="utf-8",
    )
    program.chmod(0o755)
