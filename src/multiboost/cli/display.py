"""What a person sees in a terminal."""

from __future__ import annotations

from functools import cache
from time import perf_counter

from ..boosting.callbacks import Callback
from ..extras import need
from ..visible import visible
from .times import time_of

_SHARES = ("error", "hamming_loss", "coverage")  # ends of the names of what is written in percent
_BARS = "▁▂▃▄▅▆▇█"


@cache
def console(stderr: bool = True):
    """The terminal: progress goes to standard error, results to standard output."""
    # Names of columns and classes are not ours: [x] is no markup there, and :o: no picture.
    return need("rich.console", "cli").Console(stderr=stderr, markup=False, emoji=False)


def say_written(text: str) -> None:
    """Say that a file was written.

    Parameters
    ----------
    text : str
        With its name, which may hold anything.
    """
    console().print(visible(text))


def table_of(rows, header: list[str] | None = None):
    """A plain table of texts."""
    table = need("rich.table", "cli").Table(show_header=header is not None, box=None, pad_edge=False)
    for k, name in enumerate(header or [""] * len(rows[0])):
        table.add_column(visible(name), justify="left" if k == 0 else "right" if header else "left")
    for row in rows:
        table.add_row(*map(visible, row))
    return table


def measured(name: str, value: float | None) -> str:
    """A number of an evaluation: errors, and other shares, in percent; nothing where it is undefined."""
    if value is None:
        return ""
    return f"{100 * value:.2f} %" if name.endswith(_SHARES) else f"{value:.4f}"


def spark(values, width: int = 40) -> str:
    """A small curve of text: the values, thinned out, from low to high."""
    if not values:
        return ""
    step = max(1, -(-len(values) // width))
    thinned = list(values[::step])
    low, high = min(thinned), max(thinned)
    if high == low:
        return _BARS[0] * len(thinned)
    return "".join(_BARS[round((v - low) / (high - low) * (len(_BARS) - 1))] for v in thinned)


class Notices(Callback):
    """A line about whatever takes a while before the first round; said once, also where several fits follow."""

    def __init__(self):
        self._said: set[str] = set()

    def notice(self, text):
        if text not in self._said:
            console().print(text, style="dim", highlight=False)
        self._said.add(text)


class LiveDisplay(Notices):
    """A few lines that are kept up to date: round, time left, errors as small curves, edge."""

    def begin(self, run):
        self._start, self._first, self._shown = perf_counter(), run.n_rounds, 0.0
        self._live = need("rich.live", "cli").Live(console=console(), transient=True, refresh_per_second=5)
        self._live.start()

    def after_round(self, run):
        now = perf_counter()
        if now - self._shown > 0.1:
            self._shown = now
            self._live.update(self._lines(run, now))
        return False

    def _lines(self, run, now: float):
        spent = now - self._start
        left = spent / (run.n_rounds - self._first) * (run.wanted - run.n_rounds)
        rows = [
            ("round", f"{run.n_rounds} of {run.wanted}   {time_of(spent)} so far, {time_of(left)} left"),
            ("edge", f"{run.history['edge'][-1]:.4f}"),
        ]
        for name in ("training_error", "validation_error"):
            if name in run.history:
                values = run.history[name]
                rows.append(
                    (
                        name.replace("_error", f" {run.target.kind.measure}"),
                        f"{100 * values[-1]:6.2f} %  {spark(values)}",
                    )
                )
        return table_of(rows)

    def end(self, run):
        self._live.stop()
