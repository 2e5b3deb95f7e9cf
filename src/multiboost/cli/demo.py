"""``multiboost demo``: the commands, on data that come with scikit-learn."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..files import write_table
from . import evaluate, inspect, train
from .display import console


def run() -> None:
    """Train on a csv file of handwritten digits, evaluate, look inside."""
    from sklearn.datasets import load_digits

    digits = load_digits(as_frame=True).frame
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        write_table(digits.iloc[:1300], here / "train.csv")
        write_table(digits.iloc[1300:], here / "test.csv")
        model = here / "digits.mb"
        _say("multiboost train train.csv --target target --out digits.mb --rounds 100")
        options = dict.fromkeys(_TRAIN)
        options |= {"target": ["target"], "out": model, "rounds": 100, "json": False, "quiet": False}
        train.run(str(here / "train.csv"), **options)
        _say("multiboost evaluate digits.mb test.csv")
        evaluate.run(model, str(here / "test.csv"), False, None, None, None, None, None, None, False)
        _say("multiboost inspect digits.mb --round 1")
        inspect.run(model, 1, False)


_TRAIN = (
    "target", "out", "valid", "valid_fraction", "test", "format", "labels", "ignore", "weight", "nominal", "base",
    "rounds", "votes", "loss", "learning_rate", "weighting", "max_bins", "min_category_rows", "ridge", "seed",
    "patience", "metric", "time_limit", "checkpoint", "every", "resume", "jobs", "log", "report", "json", "quiet",
)  # fmt: skip


def _say(command: str) -> None:
    console().print(f"\n$ {command}", style="bold", highlight=False)
