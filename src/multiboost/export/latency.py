"""How long a decision of the exported C takes, measured on this machine."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .c import CSource
from .exportable import ExportError

_FLAGS = ("-std=c99", "-O3", "-march=native", "-D_POSIX_C_SOURCE=199309L")


@dataclass(frozen=True)
class Latency:
    """Nanoseconds of one decision: from a row to its scores.

    Attributes
    ----------
    mean : float
        All rows one after the other, the clock of the processor read twice; the best of all repetitions.
    p99, worst : float
        Each row by itself, less what the clock takes: 99 of 100 rows are not slower in their best repetition, and
        the slowest is ``worst``.  What else runs on the machine is in there.
    """

    mean: float
    p99: float
    worst: float


def latency(source: CSource, X, *, repeats: int = 20, cc: str = "cc") -> Latency:
    """Compile exported C and measure it.

    Parameters
    ----------
    source : CSource
    X : array (n, columns)
        Rows to decide on: numbers of categories in nominal columns.
    repeats : int, default=20
        How often all rows are decided on.
    cc : str, default="cc"
        The compiler.
    """
    if shutil.which(cc) is None:
        raise ExportError(f"there is no compiler {cc!r} here to measure with; install one or name another with cc")
    row = "float" if f"{source.name}_scores(const float" in source.header else "double"
    code, score = row, row
    rows = np.asarray(X, np.float64)
    if source.fixed is not None:
        code, score = f"{source.name}_code", "int32_t"
        rows = source.fixed.codes(rows)
    rows = np.ascontiguousarray(rows if source.fixed is not None else rows.astype("f4" if row == "float" else "f8"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        source.write(path / f"{source.name}.c")
        (path / "rows.bin").write_bytes(rows.tobytes())
        (path / "clock.c").write_text(_PROGRAM.format(name=source.name, upper=source.name.upper(), code=code,
                                                      score=score, n=len(rows), repeats=repeats))  # fmt: skip
        made = subprocess.run([cc, *_FLAGS, "-o", "clock", "clock.c", f"{source.name}.c", "-lm"], cwd=folder,
                              capture_output=True, text=True)  # fmt: skip
        if made.returncode:
            raise ExportError(f"{cc} does not compile the exported code: {made.stderr[:500]}")
        told = subprocess.run(["./clock"], cwd=folder, capture_output=True, text=True, check=True).stdout.split()
    mean, p99, worst = map(float, told)
    return Latency(mean, p99, worst)


_PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"

static {code} rows[{n}][{upper}_COLUMNS];
static double best[{n}];

static double read_clock(clockid_t id)
{{
    struct timespec t;
    clock_gettime(id, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}}

static double now(void)
{{
    return read_clock(CLOCK_MONOTONIC);
}}

static int by_size(const void *a, const void *b)
{{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}}

int main(void)
{{
    {score} scores[{upper}_LABELS];
    volatile {score} sink = 0;
    double mean = 1e300, clock = 1e300;
    int i, r;
    FILE *file = fopen("rows.bin", "rb");
    if (!file || fread(rows, sizeof rows, 1, file) != 1)
        return 1;
    for (i = 0; i < {n}; i++)
        best[i] = 1e300;
    for (r = 0; r < 1000; r++) {{
        double t = now(), d = now() - t;
        clock = d < clock ? d : clock;
    }}
    for (r = 0; r < {repeats}; r++) {{
        double start = read_clock(CLOCK_PROCESS_CPUTIME_ID), t, d;
        for (i = 0; i < {n}; i++) {{
            {name}_scores(rows[i], scores);
            sink = scores[0];
        }}
        d = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / {n};
        mean = d < mean ? d : mean;
        for (i = 0; i < {n}; i++) {{
            t = now();
            {name}_scores(rows[i], scores);
            sink = scores[0];
            d = now() - t - clock;
            best[i] = d < best[i] ? d : best[i];
        }}
    }}
    (void)sink;
    qsort(best, {n}, sizeof best[0], by_size);
    printf("%.3f %.3f %.3f\\n", mean, best[({n} - 1) * 99 / 100], best[{n} - 1]);
    return 0;
}}
"""
