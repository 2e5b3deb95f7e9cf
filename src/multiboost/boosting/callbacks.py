"""What may happen after every round: stop early, keep time, report, write a log.

A callback sees the run (`boosting.run.Run`) after every round and may end it.
"""

from __future__ import annotations

import csv
import json
import signal
import sys
import threading
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..data.kinds import LabelKind
from ..disk import naming, whole_file
from .notebook import Bar, is_notebook

_TIES = {"validation_error": "validation_risk", "training_error": "risk"}  # what says which of equal errors is best

REFINEMENT = "refinement"


class Callback:
    """Common to all callbacks: nothing happens."""

    def begin_fit(self) -> None:
        """``fit`` was called; nothing is done yet."""

    def seconds_left(self) -> float:
        """How much time ``fit`` still has, before the first round."""
        return inf

    def notice(self, text: str) -> None:
        """What takes a while before the first round: kernels are compiled, settings are compared."""

    def begin(self, run: Any) -> None:
        """Before the first round."""

    def is_over(self, run: Any) -> bool:
        """Whether a run that goes on from a checkpoint had ended already."""
        return False

    def after_round(self, run: Any) -> bool:
        """After a round; True ends the run."""
        return False

    def end(self, run: Any) -> None:
        """After the last round, also where an error has ended the run."""

    def rounds_to_keep(self, run: Any) -> int | None:
        """How many rounds the model should have, None for all."""
        return None


class EarlyStopping(Callback):
    """Stop where a metric has not become better for some rounds, and keep the best round.

    Of rounds with the same error the one with the least risk is the best: an error is a share of few rows, and
    often the same for many rounds.

    Parameters
    ----------
    patience : int, default=50
        Rounds without a new best value.
    metric : str, default="validation_error"
        A column of the history, less is better: "validation_error" or "validation_risk",
        which need ``fit(..., validation=(X, y))``; "training_error" or "risk" do not.  "refinement" is the log-loss of
        the validation set after the best factor of the scores, which a calibration will find anyway: the log-loss
        itself rises long before the error stops to fall.  It becomes a column of the history.
    """

    def __init__(self, patience: int = 50, metric: str = "validation_error"):
        if not (isinstance(patience, int) and patience >= 1):
            raise ValueError(f"patience must be a whole number of at least 1; got {patience!r}")
        self.patience = patience
        self.metric = metric

    def begin(self, run):
        if self.metric == REFINEMENT and run.held_out is not None:
            if not isinstance(run.target.kind, LabelKind):
                raise ValueError("EarlyStopping: 'refinement' is the log-loss of classes or labels; numbers have none")
            run.begin_column(REFINEMENT)
        if self.metric not in run.history:
            of_validation = self.metric == REFINEMENT or self.metric.startswith("validation")
            hint = "; pass validation=(X, y) to fit" if of_validation else ""
            raise ValueError(f"EarlyStopping: the run has no {self.metric!r}, it has {', '.join(run.history)}{hint}")

    def rounds_to_keep(self, run):
        values = run.history[self.metric]
        # What is not known of past rounds is no minimum.
        ties, values = (
            np.nan_to_num(run.history[name], nan=np.inf) for name in (_TIES.get(self.metric, self.metric), self.metric)
        )
        return int(np.lexsort((ties, values))[0]) + 1 if len(values) else None

    def is_over(self, run):
        done = len(run.history[self.metric])
        stop = done > 0 and done - self.rounds_to_keep(run) >= self.patience
        if stop:
            run.stopped = f"{self.metric} has not improved for {self.patience} rounds"
        return stop

    def after_round(self, run):
        if self.metric == REFINEMENT:
            run.history[REFINEMENT].append(run.held_out.refinement)
        return self.is_over(run)


class TimeLimit(Callback):
    """Stop at the end of the round in which the time is up; it begins with ``fit``.

    The comparison of settings may use half of it.  What comes after the rounds is not cut short, such as the trainings
    that ``calibration_cv`` asks for.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float):
        if not seconds > 0:
            raise ValueError(f"seconds must be above 0; got {seconds!r}")
        self.seconds = seconds

    def begin_fit(self):
        self._start = perf_counter()

    def seconds_left(self):
        return max(0.0, self._start + self.seconds - perf_counter())

    def after_round(self, run):
        up = perf_counter() - self._start >= self.seconds
        if up:
            run.stopped = f"the time limit of {self.seconds:g} s is reached"
        return up


class StopOnInterrupt(Callback):
    """Ctrl-C ends the run after the current round, with everything so far kept.

    A second Ctrl-C interrupts at once.  Works in the main thread only, as signals do.
    """

    def begin(self, run):
        self.asked = False
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)

    def _ask(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def after_round(self, run):
        if self.asked:
            run.stopped = "interrupted"
        return self.asked

    def end(self, run):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def line_of(run) -> str:
    """One line about the newest round; a run that is none of boosting says its own."""
    if hasattr(run, "line"):
        return run.line()
    done, history, measure = run.n_rounds, run.history, run.target.kind.measure
    text = (
        f"round {done:>{len(str(run.wanted))}} of {run.wanted}   edge {history['edge'][-1]:.4f}   "
        f"risk {history['risk'][-1]:.4g}   training {measure} {100 * history['training_error'][-1]:.2f} %"
    )
    if "validation_error" in history:
        text += f"   validation {measure} {100 * history['validation_error'][-1]:.2f} %"
    return text


class Progress(Callback):
    """How far the run is: a line that is rewritten in a terminal, a bar in a notebook, some lines in a log.

    Parameters
    ----------
    every : float or None, default=None
        Seconds between lines; None means 0.2 in a terminal or a notebook and 10 elsewhere.
    file : text file, default=None
        None means standard error.
    """

    def __init__(self, every: float | None = None, file=None):
        self.every = every
        self.file = file

    def notice(self, text):
        print(text, file=self.file or sys.stderr, flush=True)

    def begin(self, run):
        self._out = self.file or sys.stderr
        self._live = self._out.isatty()
        self._bar = Bar() if self.file is None and is_notebook() else None
        self._every = (0.2 if self._live or self._bar else 10.0) if self.every is None else self.every
        self._shown = run.n_rounds
        self._start, self._last = perf_counter(), -np.inf
        self._first = run.n_rounds

    def after_round(self, run):
        now = perf_counter()
        if now - self._last >= self._every:
            self._last = now
            done = run.n_rounds - self._first
            left = (now - self._start) / done * (run.wanted - run.n_rounds)
            self._show(run, f"{line_of(run)}   {left:.0f} s left")
        return False

    def _show(self, run, text: str) -> None:
        self._shown = run.n_rounds
        if self._bar is not None:
            self._bar.show(run.n_rounds, run.wanted, text)
            return
        self._out.write(("\r\x1b[K" if self._live else "") + text + ("" if self._live else "\n"))
        self._out.flush()

    def end(self, run):
        if run.n_rounds > self._shown:  # the last round is always shown
            self._show(run, f"{line_of(run)}   {perf_counter() - self._start:.0f} s")
        if self._live:
            self._out.write("\n")


class EveryRound(Callback):
    """Print a line after every ``step`` rounds; what ``verbose`` does.

    Parameters
    ----------
    step : int
    """

    def __init__(self, step: int = 1):
        self.step = step

    def notice(self, text):
        print(text, file=sys.stderr, flush=True)

    def after_round(self, run):
        if run.n_rounds % self.step == 0 or run.n_rounds == run.wanted:
            print(line_of(run), file=sys.stderr, flush=True)
        return False


class Log(Callback):
    """One row per round with named columns: round, every metric, edge, alpha, Z, seconds.

    Parameters
    ----------
    path : str or path
        ``.csv`` and ``.jsonl`` are written row by row; ``.parquet`` at the end, by way of
        a temporary file.  A run that goes on from a checkpoint writes all rounds again.
    """

    KINDS = (".csv", ".jsonl", ".parquet")

    def __init__(self, path):
        self.path = Path(path)
        if self.path.suffix not in self.KINDS:
            raise ValueError(f"log file {path}: the name must end in {', '.join(self.KINDS)}")

    def _row(self, history: dict[str, list[float]], t: int) -> dict[str, float]:
        return {"round": t + 1, **{name: float(values[t]) for name, values in history.items()}}

    def begin(self, run):
        self._file: Any = None
        if self.path.suffix == ".parquet":
            import pyarrow.parquet  # noqa: F401  so that a missing package is known at once

            return
        self._file = open(self.path, "w", newline="", encoding="utf-8")  # noqa: SIM115  closed in end
        self._names = ["round", *run.history]
        with naming(self.path):
            if self.path.suffix == ".csv":
                csv.writer(self._file).writerow(self._names)
            for t in range(run.n_rounds):
                self._write(run.history, t)

    def _write(self, history, t: int) -> None:
        row = self._row(history, t)
        if self.path.suffix == ".csv":
            csv.writer(self._file).writerow([repr(row[name]) for name in self._names])
        else:
            self._file.write(json.dumps({k: v if np.isfinite(v) else None for k, v in row.items()}) + "\n")

    def after_round(self, run):
        if self._file is not None:
            with naming(self.path):
                self._write(run.history, run.n_rounds - 1)
                self._file.flush()
        return False

    def end(self, run):
        if self._file is None:
            self._write_table(run)
            return
        with naming(self.path):
            self._file.close()

    def _write_table(self, run) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"round": np.arange(1, run.n_rounds + 1), **{k: np.array(v) for k, v in run.history.items()}}
        with whole_file(self.path) as file:
            pq.write_table(pa.table(columns), file)
