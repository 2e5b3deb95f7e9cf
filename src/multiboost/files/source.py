"""Where bytes come from: a path or standard input, plain or compressed, and blocks of whole lines.

The format is told by the suffix (``x.csv``, ``x.csv.gz``) or by name.  The compression is told by the
suffix and, where that says nothing, by the first bytes.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .error import FileError

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".arff": "arff",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "simple",
    ".root": "root",
}
FORMATS = ("csv", "tsv", "parquet", "arrow", "arff", "svmlight", "simple", "root")
ALIASES = {"feather": "arrow", "ipc": "arrow", "libsvm": "svmlight", "svm": "svmlight", "mulan": "arff"}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
# The first bytes of a compressed file; those of bzip2 go on with a digit and the block's mark.
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_BZIP2_MARKS = (b"1AY&SY", b"\x17rE8P\x90")
_OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_BLOCK = 1 << 22
_FOLDER = "this is a folder, not a file; name a file in it"
_PATIENCE = 60.0  # seconds, for threads that read ahead; they need none of them unless the disk is stuck


def split_suffixes(path) -> tuple[str, str, str | None]:
    """Stem, format suffix and compression of a file name: ``("a", ".csv", "gzip")`` of ``a.csv.gz``."""
    name = Path(path)
    compression = COMPRESSIONS.get(name.suffix.lower())
    if compression:
        name = name.with_suffix("")
    return name.stem, name.suffix.lower(), compression


def split_inside(path) -> tuple[Path, str | None]:
    """A file, and what is meant inside it: ``("a.root", "tree")`` of ``a.root:tree``."""
    found = re.fullmatch(r"(.+\.root):([^:]+)", str(path), re.DOTALL)
    if found is None or Path(path).exists():
        return Path(path), None
    return Path(found[1]), found[2]


def format_of(path, format: str | None = None) -> str:
    """The format's name, from what the user says or from the suffix."""
    if format is not None:
        name = ALIASES.get(format.lower(), format.lower())
        if name not in FORMATS:
            raise FileError(path, f"unknown format {format!r}; known are {', '.join(FORMATS)}")
        return name
    if str(path) == "-":
        raise FileError(path, f"standard input and output have no suffix: say format=, one of {', '.join(FORMATS)}")
    suffix = split_suffixes(split_inside(path)[0])[1]
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise FileError(
            path, f"unknown suffix {suffix!r}; known are {known}, each also with .gz, .bz2 or .xz; or say format="
        )
    return SUFFIXES[suffix]


class Stream:
    """Decompressed bytes, read once; damage becomes a `FileError`.

    Attributes
    ----------
    quotes : int
        How many double quotes went by.
    """

    def __init__(self, name: str, file: BinaryIO, compression: str | None):
        self.name = name
        self.compression = compression
        self.quotes = 0
        self._file = file
        self._data: BinaryIO = _OPENERS[compression](file, "rb") if compression else file
        self._lent: Any = None
        self._back = threading.Event()
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        try:
            data = self._data.read(size)
        except EOFError as error:
            raise FileError(self.name, f"the {self.compression} data end too early: the file was cut short") from error
        except (OSError, zlib.error, lzma.LZMAError) as error:
            what = f"these are not whole {self.compression} data" if self.compression else "cannot be read"
            raise FileError(self.name, f"{what}: {error}") from error
        self.quotes += data.count(b'"')
        return data

    def lend(self) -> Lent:
        """The stream for a library that reads ahead in a thread of its own; once."""
        lent = Lent(self)
        self._lent = weakref.ref(lent, lambda _: self._back.set())
        return lent

    def close(self) -> None:
        """Close the file below.

        Whoever the stream was lent to has given it back then: a thread that still asks Python for bytes when Python
        ends takes the process with it (exit code 134).
        """
        if not self.closed:
            self.closed = True
            if self._lent is not None:
                self._back.wait(_PATIENCE)
            if self._data is not self._file:
                self._data.close()
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class Lent:
    """A stream in the hands of a library: at its end as soon as the stream is closed."""

    closed = False

    def __init__(self, stream: Stream):
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """As of `Stream`."""
        return b"" if self._stream.closed else self._stream.read(size)

    def readable(self) -> bool:
        """As files have it."""
        return True

    def close(self) -> None:
        """The owner closes."""


class _Unclosed(io.BufferedReader):
    """Standard input or a temporary copy: stays open for the next reader."""

    _detached = False

    def close(self):
        if not self._detached:
            self._detached = True
            self.detach()


class Source:
    """A data file to be read, as often as needed.

    Parameters
    ----------
    path : str or path
        "-" is standard input.
    format : str or None
        None: by the suffix.

    Attributes
    ----------
    name : str
        What messages call the file.
    once : bool
        Standard input or a pipe, whose bytes come only once.
    inside : str or None
        The tree of a ROOT file.

    Raises
    ------
    FileNotFoundError, PermissionError
    FileError
        A folder, an unknown suffix.
    """

    def __init__(self, path, format: str | None = None):
        self._is_stdin = str(path) == "-"
        self.path, self.inside = split_inside(path)
        self.name = "standard input" if self._is_stdin else str(path)
        if not self._is_stdin and self.path.is_dir():  # before the suffix, which a folder has not
            raise FileError(self.name, _FOLDER)
        if not self._is_stdin and not self.path.suffix and not self.path.exists():  # a folder was meant, perhaps
            raise FileNotFoundError(errno.ENOENT, "No such file or folder", self.name)
        self.format = format_of(path, format)
        self._copy: Any = None
        self._compression = None if self._is_stdin else split_suffixes(path)[2]
        self.once = self._is_stdin or _is_pipe(self.path)
        if not self.once:
            self._open_path().close()

    def _open_path(self) -> BinaryIO:
        try:
            return open(self.path, "rb")
        except (FileNotFoundError, PermissionError):
            raise
        except IsADirectoryError as error:
            raise FileError(self.name, _FOLDER) from error
        except (OSError, ValueError) as error:
            raise FileError(self.name, f"cannot be opened: {error}") from error

    def keep(self) -> None:
        """See to it that the bytes can be read again: what comes once is copied to a temporary file."""
        if self.once and self._copy is None:
            self._copy = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the source
            with self._open_once() as file:
                shutil.copyfileobj(file, self._copy)

    def close(self) -> None:
        """Give up the temporary copy, where there is one."""
        if self._copy is not None:
            self._copy.close()

    def _open_once(self) -> BinaryIO:
        return _Unclosed(sys.stdin.buffer) if self._is_stdin else self._open_path()  # type: ignore[arg-type]

    def open(self) -> Stream:
        """The decompressed bytes from the beginning."""
        file: BinaryIO
        if self._copy is not None:
            self._copy.seek(0)
            file = _Unclosed(self._copy)
        else:
            file = self._open_once()
        try:
            compression = self._compression or _sniff(file)
        except OSError as error:
            raise FileError(self.name, f"cannot be read: {error}") from error
        return Stream(self.name, file, compression)

    def seekable(self) -> Any:
        """A file that can be read at any place: the path itself, or a decompressed temporary copy."""
        if not self.once and not self._compression:
            with self._open_path() as file:
                if not _sniff(file):
                    return os.fspath(self.path)
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's
        with self.open() as stream:
            while block := stream.read(_BLOCK):
                copy.write(block)
        copy.seek(0)
        return copy

    def blocks(self, size: int = _BLOCK) -> Iterator[tuple[int, bytes]]:
        """Whole lines of text: the number of the first line, and bytes that end in a newline.

        Lines may end in LF, CRLF or CR, and come out with LF; a byte order mark is dropped; a last line
        without an end gets one.  Bytes that are not UTF-8 raise `FileError` with the line.
        """
        line = 1
        pieces: list[bytes] = []
        with self.open() as stream:
            chunk = stream.read(size).removeprefix(b"\xef\xbb\xbf")
            while chunk:
                following = stream.read(size)
                if following and chunk.endswith(b"\r"):  # perhaps half of a CRLF
                    chunk, following = chunk[:-1], b"\r" + following
                if b"\r" in chunk:
                    chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                cut = chunk.rfind(b"\n") + 1
                if cut:
                    block = b"".join([*pieces, chunk[:cut]])
                    pieces = []
                    yield line, self._checked(block, line)
                    line += block.count(b"\n")
                pieces.append(chunk[cut:])
                chunk = following
        rest = b"".join(pieces)
        if rest:
            yield line, self._checked(rest + b"\n", line)

    def _checked(self, block: bytes, line: int) -> bytes:
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError as error:
                line += block.count(b"\n", 0, error.start)
                raise FileError(
                    self.name, f"the byte 0x{block[error.start]:02x} is not UTF-8; save the file as UTF-8", line
                ) from error
        return block


def _is_pipe(path: Path) -> bool:
    """Whether a path names neither a file nor a folder, like the pipe of a shell's ``<(...)``."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # opening it will say what is wrong
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _sniff(file) -> str | None:
    """The compression that the first bytes tell."""
    head = file.peek(10)[:10]
    for magic, name in _MAGIC.items():
        if head.startswith(magic) and (name != "bzip2" or head[4:10] in _BZIP2_MARKS):
            return name
    return None
