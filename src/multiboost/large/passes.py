"""Two passes over a dataset: one makes the cut points, the other writes bins, labels and weights.

After the first pass all sizes are known: how much room the fit needs is said, and checked, before the second begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..data.binned import Binned, BinnedColumn
from ..data.binner import Binner, bins_of_names, bins_of_sketch
from ..data.sketch import SAMPLE, NameSketch, NumberSketch, turns
from ..data.table import infinite
from ..files.error import FileError
from ..workspace import InMemory
from .answers import Answers, Numbers
from .dataset import Batch, Dataset
from .table import StreamedTable

_EVERY = 5.0  # seconds between words about how far a pass is
_ENTRY = 40  # bytes of a value of a sample: the value, its row and weight, and room for as many that wait
_SHARE = 0.1  # of the memory that samples of columns may take


@dataclass
class Watch:
    """Who is told how far a pass is, and in how much time it must be over.

    Attributes
    ----------
    tell : callable
        Is given a line of text.
    seconds_left : callable
        How many seconds the fit still has.
    """

    tell: Callable[[str], None]
    seconds_left: Callable[[], float]

    def over(self, dataset: Dataset, what: str) -> Iterator[Batch]:
        """The batches of a dataset, with a word now and then, in time."""
        begin = last = perf_counter()
        n_rows, seen = dataset.n_rows, 0
        self.tell(f"{what}: {len(dataset.files)} file{'s' if len(dataset.files) != 1 else ''} of {dataset.name}")
        for batch in dataset.batches():
            yield batch
            seen = batch.first + batch.table.num_rows
            now = perf_counter()
            if now - last >= _EVERY:
                last = now
                share = f" of {n_rows}, {100 * seen / n_rows:.0f} %" if n_rows else ""
                self.tell(f"{what}: {seen} rows{share}, {now - begin:.0f} s")
            if self.seconds_left() <= 0:
                raise TimeoutError(
                    f"the time limit was reached in {what}, after {seen} rows and before the first round; nothing was "
                    "learned: give more time, or fewer rows"
                )
        self.tell(f"{what}: {seen} rows in {perf_counter() - begin:.1f} s")


class Passes:
    """The passes over a dataset.

    Parameters
    ----------
    table : StreamedTable
    answers : Answers or Numbers
    weight : str or None
        The column of sample weights.
    watch : Watch
    """

    def __init__(self, table: StreamedTable, answers: Answers | Numbers, weight: str | None, watch: Watch):
        self.table, self.answers, self.weight, self.watch = table, answers, weight, watch

    def survey(self, nominal: np.ndarray, max_bins: int, min_category_rows: int, memory: float) -> Binner:
        """The first pass: the bins of all columns, the categories of nominal ones, and what values the target has.

        Parameters
        ----------
        nominal : ndarray (columns,) of bool
        max_bins, min_category_rows : int
            See `Binner`.
        memory : float
            Bytes that the fit may take.
        """
        table = self.table
        size = int(min(SAMPLE, max(20 * max_bins, _SHARE * memory / (_ENTRY * max(1, table.n_columns)))))
        sketches: list[Any] = [NameSketch() if one else NumberSketch(max_bins, size) for one in nominal]
        for batch in self.watch.over(table.dataset, "pass 1 of 2, cut points"):
            self.answers.add(batch)
            weight = self._weights(batch)
            rows = np.arange(batch.first, batch.first + batch.table.num_rows)
            turn, frame = turns(rows), table.frame(batch)
            for j, sketch in enumerate(sketches):
                try:
                    if nominal[j]:
                        sketch.add(frame.factor(j), batch.first)
                        continue
                    values = frame.columns(j, j + 1)[0].values
                except ValueError as error:
                    raise FileError(batch.file, str(error)) from error
                if np.isinf(values).any():
                    raise FileError(batch.file, infinite(table.label(j)))
                sketch.add(values, rows, turn, weight)
        table.n_rows = table.dataset.n_rows or 0
        binner = Binner(max_bins, min_category_rows)
        binner.columns = [
            bins_of_names(sketch, min_category_rows) if one else bins_of_sketch(sketch)
            for sketch, one in zip(sketches, nominal, strict=True)
        ]
        if nominal.any():
            table.categories = [s.categories() if one else None for s, one in zip(sketches, nominal, strict=True)]
        return binner

    def write(
        self, binner: Binner, kept: np.ndarray, read: Callable[[Batch], np.ndarray], found: np.ndarray,
        workspace: InMemory,
    ) -> tuple[Binned, np.ndarray | None]:  # fmt: skip
        """The second pass: bins, what the target says of each row, and weights.

        Parameters
        ----------
        binner : Binner
        kept : ndarray of int
            Numbers of rows, rising, whose values are kept: of those that settings are compared on.
        read : callable
            What is to be known of the target, of the rows of a batch.
        found : ndarray (n, columns)
            Where that is written.
        workspace : InMemory

        Returns
        -------
        Binned, and the weights of the rows or None
        """
        table, n = self.table, self.table.n_rows
        columns = [_empty(of, n, workspace) for of in binner.columns]
        weights = None if self.weight is None else workspace.zeros(n, np.float64)
        values = workspace.zeros((kept.size, table.n_columns), np.float64)
        for batch in self.watch.over(table.dataset, "pass 2 of 2, bins"):
            frame, last = table.frame(batch), batch.first + batch.table.num_rows
            here = slice(batch.first, last)
            found[here] = read(batch)
            if weights is not None:
                weights[here] = self._weights(batch)
            begin, end = np.searchsorted(kept, (batch.first, last))
            for j, of in enumerate(binner.columns):
                column = columns[j]
                if column is None and begin == end:
                    continue
                numbers = frame.columns(j, j + 1)[0].values
                values[begin:end, j] = numbers[kept[begin:end] - batch.first]
                if column is not None:
                    column.bins[here] = of.digitise(numbers)
        table.keep(kept, values)
        return Binned(table, binner, columns, workspace=workspace), weights

    def _weights(self, batch: Batch) -> np.ndarray | None:
        """The sample weights of a batch."""
        if self.weight is None:
            return None
        try:
            found = np.asarray(batch.table.column(self.weight).to_numpy(), np.float64)
        except (TypeError, ValueError) as error:
            raise FileError(batch.file, f"the weights, column {self.weight!r}, are not numbers: {error}") from error
        wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
        if wrong.size:
            raise FileError(
                batch.file, f"the weight {self.weight!r} is {found[wrong[0]]:g} in row {batch.first + wrong[0] + 1} of "
                "all files; here weights are above 0: leave rows without weight out of the files"
            )  # fmt: skip
        return found


def _empty(of, n_rows: int, workspace: InMemory) -> BinnedColumn | None:
    """Room for the bins of a column; None where it is constant."""
    if of.n_bins + of.missing < 2:
        return None
    dtype = of.digitise(np.zeros(0)).dtype
    return BinnedColumn(of, workspace.zeros(n_rows, dtype))
