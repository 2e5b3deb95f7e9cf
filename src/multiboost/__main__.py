"""The program ``multiboost``, also as ``python -m multiboost``: the command in a process of its own."""

import atexit
import os
import sys
from contextlib import suppress

from .cli.app import main


def program() -> None:
    """The command; the process ends with it, at once.

    Python's own end takes a while, and threads of libraries that let go of Python's objects meanwhile abort it: exit
    code 134, after all was said and done.
    """
    try:
        main()
    except SystemExit as end:
        code = 0 if end.code is None else end.code
        if not isinstance(code, int):  # as Python itself does it
            print(code, file=sys.stderr)
            code = 1
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nobody is left to read, or it is closed
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    program()
