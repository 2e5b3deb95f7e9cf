"""The command without a new process."""

import io
import sys

import pytest


class Done:
    """What a command has left."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def in_process(*arguments) -> Done:
    """The command without a new process: what it prints, and its exit code."""
    from contextlib import redirect_stderr, redirect_stdout

    from multiboost.cli import app, display

    out, err = io.StringIO(), io.StringIO()
    display.console.cache_clear()
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["multiboost", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            app.main()
    display.console.cache_clear()
    return Done(ended.value.code, out.getvalue(), err.getvalue())
