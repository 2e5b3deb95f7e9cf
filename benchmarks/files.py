"""How long reading takes, beside pyarrow: ``python -m benchmarks.files [rows]``.

A table of 20 columns, a quarter of them nominal, in csv, Parquet and three kinds of ARFF; each is read in turn with
pyarrow's own csv reader.  Ratios are to that reader in the same repeat.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from multiboost.files import read_file, write_table

from .data import PROJECT
from .measure import Times, in_turn, machine, write_json

REPEATS = 5
CSV = "pyarrow, csv"


def table_of(rows: int) -> pa.Table:
    """Fifteen columns of numbers, four of names, and a class."""
    rng = np.random.default_rng(0)
    columns: dict = {f"x{j}": rng.normal(size=rows).round(4) for j in range(10)}
    columns |= {f"n{j}": rng.integers(0, 1000, rows) for j in range(5)}
    for j in range(5):
        columns[f"c{j}"] = pa.array(rng.choice(["red", "green", "blue", "pale grey"], rows)).dictionary_encode()
    return pa.table(columns)


def slow_form(path: Path, source: Path) -> None:
    """The same ARFF with an escape in every row, which the fast parser leaves to the careful one."""
    text = source.read_text()
    head, mark, data = text.partition("@data\n") if "@data\n" in text else text.partition("@DATA\n")
    head = head.replace("pale grey", "pale\\'s grey")
    path.write_text(head + mark + data.replace("pale grey", "pale\\'s grey"))


def main(rows: int = 500_000) -> None:
    """Measure, print, keep."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = table_of(rows)
        for suffix in ("csv", "parquet", "arff"):
            write_table(table, folder / f"t.{suffix}")
        (folder / "plain.arff").write_text((folder / "t.arff").read_text().replace("'pale grey'", "grey"))
        slow_form(folder / "slow.arff", folder / "t.arff")
        actions = {
            CSV: lambda: pa.csv.read_csv(folder / "t.csv"),
            "csv": lambda: read_file(folder / "t.csv"),
            "pyarrow, Parquet": lambda: pa.parquet.read_table(folder / "t.parquet"),
            "Parquet": lambda: read_file(folder / "t.parquet"),
            "ARFF, plain names": lambda: read_file(folder / "plain.arff"),
            "ARFF, quoted names": lambda: read_file(folder / "t.arff"),
            "ARFF, escaped names": lambda: read_file(folder / "slow.arff"),
        }
        for action in actions.values():
            action()
        found = in_turn(actions, REPEATS)
    results = {}
    for name, seconds in found.items():
        ratio = Times.of(np.array(seconds) / np.array(found[CSV]))
        results[name] = {"seconds": Times.of(seconds)._asdict(), "ratio": ratio._asdict()}
        spread = f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        print(f"{name:<22}{Times.of(seconds)!s:<32}over pyarrow's csv {spread}")
    path = PROJECT / "benchmarks" / "results" / "files.json"
    write_json(path, {"machine": machine(), "rows": rows, "reading": results})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
