"""From exceptions to messages and exit codes that scripts can trust."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

BAD_INPUT, INTERRUPTED = 2, 130


class BadInput(ValueError):
    """What the user gave cannot be used; the message says what and what to do."""


class Interrupted(Exception):
    """The user ended the run, and what there was has been saved."""


@contextmanager
def failures() -> Iterator[None]:
    """Turn what the user can mend into one line and exit code 2; anything else is a bug and says so."""
    try:
        yield
    except BrokenPipeError:  # the reader of our output has gone: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, Interrupted) as stop:
        print(f"multiboost: {stop or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (ValueError, OSError, ImportError) as error:
        print(f"multiboost: {_text(error)}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except Exception as error:
        show = getattr(error, "show", None)  # usage errors know how to print themselves
        if show is None:
            raise
        show()
        sys.exit(getattr(error, "exit_code", BAD_INPUT))


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return str(error)
