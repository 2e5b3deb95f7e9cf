"""``multiboost demo``: the commands, on data that come with scikit-learn."""

from __future__ import annotations

import shlex
import tempfile
from contextlib import chdir

from ..files import write_table
from .display import console

_COMMANDS = (
    "train train.csv --target target --out digits.mb --rounds 100",
    "evaluate digits.mb test.csv",
    "inspect digits.mb --round 1",
)


def run() -> None:
    """Train on a csv file of handwritten digits, evaluate, look inside."""
    from sklearn.datasets import load_digits

    from .app import app

    digits = load_digits(as_frame=True).frame
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_table(digits.iloc[:1300], "train.csv")
        write_table(digits.iloc[1300:], "test.csv")
        for command in _COMMANDS:
            console().print(f"\n$ multiboost {command}", style="bold", highlight=False)
            app(shlex.split(command), prog_name="multiboost", standalone_mode=False)
