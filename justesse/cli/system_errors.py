"""What the system says of files and ports, in plain words."""

import errno
import os

_WORDS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "this is not permitted",
    errno.ENOTDIR: "a part of the path is a file and no folder",
    errno.EISDIR: "it is a folder and no file",
    errno.EEXIST: "it exists already",
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "the quota of the disk is used up",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "its links lead in a circle",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this machine",
    errno.EIO: "the disk cannot be read",
    errno.EADDRINUSE: "something listens there already",
}


def words_of(error: OSError) -> str:
    """Returns the cause without numbers and without the file."""
    known = _WORDS.get(error.errno or 0)
    return known or error.strerror or str(error) or type(error).__name__


def line_of(error: OSError) -> str:
    """Returns the cause after the file that it is about, where there is one."""
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if _is_path(name)]
    return ": ".join([*names[:1], words_of(error)])


def _is_path(name: object) -> bool:
    return isinstance(name, str | bytes) and bool(name)
