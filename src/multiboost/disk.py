"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def naming(path, *others) -> Iterator[None]:
    """Errors of the disk name the file that was to be written, not a temporary one or none.

    Parameters
    ----------
    path : str or path
        What the user calls the file.
    *others : str
        Other names that it has meanwhile; an error about any other file stays as it is.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, os.fspath(path), *others):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def whole_file(path) -> Iterator[BinaryIO]:
    """A file to write to that takes its name only when it is whole and on the disk.

    It is written under a temporary name in the same folder, synced and renamed: a reader sees the
    old file or the new one, and after an error the old one is still there.

    Parameters
    ----------
    path : str or path
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    with naming(path, temporary):
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)  # a temporary file is for its owner only
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
