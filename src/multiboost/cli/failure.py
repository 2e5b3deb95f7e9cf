"""From exceptions to messages and exit codes that scripts can trust."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..visible import visible, visible_lines

BAD_INPUT, INTERRUPTED = 2, 130


class BadInput(ValueError):
    """What the user gave cannot be used; the message says what and what to do."""


class Interrupted(Exception):
    """The user ended the run, and what there was has been saved."""


def check_writable(path: Path, option: str) -> None:
    """Refuse a file that could not be written at the end.

    Parameters
    ----------
    path : path
    option : str
        That named it.
    """
    folder = path.absolute().parent
    if path.is_dir():
        raise BadInput(f"{option} {path} is a folder, not a file")
    if not folder.is_dir():
        raise BadInput(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"{option} {path}: no permission to write in {folder}")


@contextmanager
def failures() -> Iterator[None]:
    """Turn what the user can mend into one line and exit code 2; anything else is a bug and says so."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say  # type: ignore[assignment]
            yield
        sys.stdout.flush()  # here, where a full disk or a reader that has gone can still be dealt with
    except BrokenPipeError:  # the reader of our output has gone: nobody is left to tell
        _drop_output()
        sys.exit(0)
    except (KeyboardInterrupt, Interrupted) as stop:
        print(f"multiboost: {visible_lines(stop) or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"multiboost: {visible_lines(_text(error))}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        sys.exit(BAD_INPUT)
    except Exception as error:
        show = getattr(error, "show", None)  # usage errors know how to print themselves
        if show is None:
            raise
        if hasattr(error, "message"):
            error.message = visible(error.message)
        show()
        sys.exit(getattr(error, "exit_code", BAD_INPUT))


def _say(message, *where) -> None:
    """A warning as one line, without our own source code."""
    print(f"multiboost: {visible_lines(message)}", file=sys.stderr)


def _drop_output() -> None:
    """Forget what is still to be written: Python would try again when it ends, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}"
    if isinstance(error, MemoryError) and "not enough memory" not in str(error):
        return "not enough memory for this file or model; take fewer rows or columns, or a larger machine"
    # Readers speak of Python's parameter.
    return re.sub(r"\bformat=(?:'(\w+)')?", lambda m: f"--format {m[1]}" if m[1] else "--format", str(error))
