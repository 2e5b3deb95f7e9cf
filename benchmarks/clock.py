"""Nanoseconds of a decision of other people's code, measured as `multiboost.export.latency` measures ours: from C.

A decision is one call of a C function for one row, in a loop that reads the clock as ours does.  What can be prepared
is prepared: models are loaded, rows are in the form that the function wants.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

FLAGS = ("-std=gnu99", "-O3", "-march=native")


class Peer(NamedTuple):
    """How to decide with somebody's code.

    Attributes
    ----------
    declarations : str
        C that defines ``row_type``, ``prepare()`` and ``decide(row_type *row)``, which returns a double.
    from_double : str
        C that fills ``to``, an element of a ``row_type`` row, from ``x``, a double.
    sources : list of path
        C files to compile with it.
    libraries : list of path
    """

    declarations: str
    from_double: str = "*to = x;"
    sources: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()


def compiled_clock(peer: Peer, rows: np.ndarray, folder: Path, repeats: int = 10) -> Callable[[], tuple[float, float]]:
    """A function that measures mean and worst nanoseconds, and leaves what was decided in ``decided.bin``."""
    n, columns = rows.shape
    np.ascontiguousarray(rows, np.float64).tofile(folder / "rows.bin")
    (folder / "clock.c").write_text(
        _PROGRAM.replace("DECLARATIONS", peer.declarations).replace("FROM_DOUBLE", peer.from_double)
        .replace("COLUMNS", str(columns)).replace("REPEATS", str(repeats)).replace("ROWS", str(n))
    )  # fmt: skip
    linked = [str(path) for path in (*peer.sources, *peer.libraries)]
    paths = [f"-Wl,-rpath,{path.parent}" for path in peer.libraries]
    subprocess.run(["cc", *FLAGS, "-w", "-o", "clock", "clock.c", *linked, *paths, "-lm"], cwd=folder, check=True)

    def measure() -> tuple[float, float]:
        told = subprocess.run(["./clock"], cwd=folder, check=True, capture_output=True, text=True).stdout.split()
        mean, worst = map(float, told[-2:])
        return mean, worst

    return measure


def decided(folder: Path) -> np.ndarray:
    """What the last measurement has decided: a score for every row."""
    return np.fromfile(folder / "decided.bin")


def lightgbm_peer(booster, n_columns: int, folder: Path, options: str = "num_threads=1") -> Peer:
    """LightGBM's C interface for one row, with everything prepared (``...SingleRowFastInit``)."""
    from lightgbm.basic import _LIB

    booster.save_model(folder / "model.txt")
    return Peer(
        _LIGHTGBM.replace("N_COLUMNS", str(n_columns)).replace("OPTIONS", options), libraries=(Path(_LIB._name),)
    )


def treelite_peer(booster, folder: Path) -> Peer:
    """treelite's model as C, written by TL2cgen and compiled with the same flags as ours."""
    import tl2cgen
    import treelite

    forest = treelite.frontend.from_lightgbm(booster)
    with tempfile.TemporaryDirectory() as made:
        tl2cgen.generate_c_code(forest, made, params={}, verbose=False)
        for name in ("header.h", "main.c"):
            (folder / name).write_text((Path(made) / name).read_text())
    return Peer(_TREELITE, _TREELITE_ENTRY, sources=(Path("main.c"),))


_LIGHTGBM = """
typedef double row_type;
extern int LGBM_BoosterCreateFromModelfile(const char *, int *, void **);
extern int LGBM_BoosterPredictForMatSingleRowFastInit(void *, int, int, int, int, int32_t, const char *, void **);
extern int LGBM_BoosterPredictForMatSingleRowFast(void *, const void *, int64_t *, double *);
static void *fast;
static void prepare(void)
{
    int n;
    void *booster;
    if (LGBM_BoosterCreateFromModelfile("model.txt", &n, &booster) ||
        LGBM_BoosterPredictForMatSingleRowFastInit(booster, 1, 0, -1, 1, N_COLUMNS, "OPTIONS", &fast))
        exit(2);
}
static double decide(row_type *row)
{
    int64_t n;
    double score;
    LGBM_BoosterPredictForMatSingleRowFast(fast, row, &n, &score);
    return score;
}
"""

_TREELITE = """
#include "header.h"
typedef union Entry row_type;
static void prepare(void) {}
static double decide(row_type *row)
{
    double score = 0;
    predict(row, 1, &score);
    return score;
}
"""
_TREELITE_ENTRY = "if (x != x) to->missing = -1; else to->fvalue = x;"

_PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
DECLARATIONS
static double given[ROWS][COLUMNS], best[ROWS], said[ROWS];
static row_type rows[ROWS][COLUMNS];

static double read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int main(void)
{
    volatile double sink = 0;
    double mean = 1e300, clock = 1e300, worst = 0;
    int i, j, r;
    FILE *file = fopen("rows.bin", "rb");
    if (!file || fread(given, sizeof given, 1, file) != 1)
        return 1;
    prepare();
    for (i = 0; i < ROWS; i++) {
        best[i] = 1e300;
        for (j = 0; j < COLUMNS; j++) {
            double x = given[i][j];
            row_type *to = &rows[i][j];
            FROM_DOUBLE
        }
    }
    for (r = 0; r < 1000; r++) {
        double t = now(), d = now() - t;
        clock = d < clock ? d : clock;
    }
    for (r = 0; r < REPEATS; r++) {
        double start = read_clock(CLOCK_PROCESS_CPUTIME_ID), t, d;
        for (i = 0; i < ROWS; i++)
            sink = decide(rows[i]);
        d = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / ROWS;
        mean = d < mean ? d : mean;
        for (i = 0; i < ROWS; i++) {
            t = now();
            said[i] = decide(rows[i]);
            d = now() - t - clock;
            best[i] = d < best[i] ? d : best[i];
        }
    }
    (void)sink;
    for (i = 0; i < ROWS; i++)
        worst = best[i] > worst ? best[i] : worst;
    file = fopen("decided.bin", "wb");
    fwrite(said, sizeof said, 1, file);
    fclose(file);
    printf("%.3f %.3f\\n", mean, worst);
    return 0;
}
"""
