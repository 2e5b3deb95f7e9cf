"""Table 3.1 of Kegl 2011, computed again: discrete AdaBoost.MH with stumps, products and trees on five data sets.

Weights are (3.12), splits the standard ones, and the estimate is the table's own: the mean test error over the last
half of the rounds.  The number of terms of a product, the leaves of a tree and its number of rounds are chosen on a
fifth of the training set.  A second table has what we would use today.

A run takes hours; it goes in pieces and may be killed at any time.  Several processes may run side by side: one that
finds another at a cell goes on to the next.

    python -m benchmarks.table31 --validate pendigits letter   # the runs on four fifths of the training sets
    python -m benchmarks.table31 pendigits/stump letter/product:5 isolet/tree --minutes 60
    python -m benchmarks.table31 --collect                     # what there is so far, as JSON
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import data
from .longrun import Busy, LongRun, OtherRun, State, held
from .markdown import table as markdown
from .measure import machine, write_json

FOLDER = Path(__file__).resolve().parent
WORK, RESULTS = FOLDER / "work", FOLDER / "results" / "table31.json"

# Test error in per cent and, over the last half of the rounds, its standard deviation.
PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "mnist": {
        "stump": (7.71, 0.05), "product:2": (1.56, 0.03), "product:3": (1.26, 0.02), "product:4": (1.38, 0.02),
        "tree": (1.53, 0.02),
    },
    "usps": {
        "stump": (6.48, 0.05), "product:2": (4.92, 0.06), "product:3": (4.24, 0.04), "product:4": (4.72, 0.07),
        "tree": (4.73, 0.04),
    },
    "pendigits": {
        "stump": (4.97, 0.00), "product:2": (1.89, 0.02), "product:3": (2.07, 0.03), "tree": (2.14, 0.04),
    },
    "isolet": {
        "stump": (4.88, 0.07), "product:2": (3.91, 0.10), "product:3": (3.97, 0.04), "product:4": (3.95, 0.05),
        "product:5": (3.87, 0.07), "product:6": (3.92, 0.08), "product:8": (3.89, 0.04), "product:10": (4.11, 0.04),
        "tree": (3.69, 0.04),
    },
    "letter": {
        "stump": (14.74, 0.06), "product:2": (3.65, 0.04), "product:3": (2.71, 0.02), "product:4": (2.54, 0.06),
        "product:5": (2.41, 0.04), "product:6": (2.40, 0.03), "product:8": (2.38, 0.04), "product:10": (2.35, 0.04),
        "tree": (2.62, 0.04),
    },
}  # fmt: skip
SMOOTHED = "usps-smoothed"
PUBLISHED[SMOOTHED] = PUBLISHED["usps"]
# What is known about cells whose difference from the published figure is large, by name.
_SMOOTH = (
    "the source took these digits from another place, where they seem to have been smoothed: convolved with a Gaussian "
    f"of 0.75 pixels, {SMOOTHED}, stumps and products of two and four are within 0.2 points of what was published"
)
_GUESSED = (
    "the test part has 2,007 samples, of which 0.28 points are six; the published error of three terms is half a point "
    "below those of two and of four, for which ours are the lower ones. The width of the Gaussian is a guess; it is "
    "that of Schoelkopf (Support Vector Learning, 1997), as far as we remember"
)
_FEW = "the run is not finished; the test part has 1,559 samples, of which 0.3 points are five"
REMARKS: dict[str, str] = {
    "isolet/product:2": f"{_FEW}; from round 5,000 to 20,000 the mean does not fall",
    **{f"isolet/product:{m}": _FEW for m in (5, 8, 10)},
    **{f"usps/{learner}": _SMOOTH for learner in PUBLISHED["usps"]},
    **{f"{SMOOTHED}/{learner}": _GUESSED for learner in PUBLISHED["usps"]},
    "letter/tree": "validation has chosen the largest of our trees; the source does not say which sizes it tried",
    "pendigits/tree": (
        "the test part has other writers; a fifth of the training part, on which all these trees have errors of 0.1 or "
        "0.2 %, says little about the number of rounds; the mean of the last half is near to what was published"
    ),
    "isolet/product:3": "the test part has 1,559 samples, of which 0.21 points are three; ours is the lower error",
    "isolet/tree": (
        "the test part has 1,559 samples, of which 0.26 points are four; from round 500 on the error goes up and down "
        "between 3.5 and 4.3 %"
    ),
}
LARGE = 0.2  # points

ROUNDS = {
    "mnist": 20_000,
    "usps": 100_000,
    SMOOTHED: 100_000,
    "pendigits": 100_000,
    "isolet": 100_000,
    "letter": 100_000,
}
VALIDATION_ROUNDS = 2000
LEAVES = (4, 8, 16, 32, 64)  # of trees; the source does not say which sizes it tried
# What we would use today; the setting and its rounds are chosen as those of trees are.
BEST_ROUNDS = 2000
BEST: dict[str, dict] = {
    "trees": {"base_learner": "tree", "votes": "real", "loss": "exponential", "learning_rate": 0.1},
    "sampled": {"base_learner": "tree", "votes": "real", "loss": "exponential", "learning_rate": 0.1, "subsample": 0.8},
    "large-trees": {"base_learner": "tree:100", "votes": "real", "loss": "exponential", "learning_rate": 0.1},
    "logistic": {"base_learner": "tree:16", "votes": "real", "loss": "logistic", "learning_rate": 0.1},
    "products": {"base_learner": "product:3", "votes": "real", "loss": "exponential", "learning_rate": 0.2},
}
CURVE_POINTS = 60


class Cell(NamedTuple):
    """One run: a data set, what is boosted, and whether it is tested on a fifth of the training set."""

    dataset: str
    learner: str
    validation: bool = False

    @property
    def name(self) -> str:
        return f"{self.dataset}/{self.learner}"

    @property
    def family(self) -> str:
        return self.learner.partition(":")[0]

    def path(self, work: Path) -> Path:
        part = "validation" if self.validation else "test"
        return work / f"{self.dataset}-{self.learner.replace(':', '-')}-{part}.npz"

    def parameters(self, max_bins: int) -> dict:
        if self.family == "best":
            return {**BEST[self.learner.partition(":")[2]], "max_bins": 256}
        return {"base_learner": self.learner, "votes": "discrete", "max_bins": max_bins}

    @property
    def rounds(self) -> int:
        if self.validation:
            return VALIDATION_ROUNDS
        return BEST_ROUNDS if self.family == "best" else ROUNDS[self.dataset]


def candidates(dataset: str, family: str) -> list[str]:
    """Learners of a family, among which validation chooses."""
    if family == "tree":
        return [f"tree:{n}" for n in LEAVES]
    if family == "best":
        return [f"best:{name}" for name in BEST]
    return [learner for learner in PUBLISHED[dataset] if learner.partition(":")[0] == family]


@functools.cache
def split_of(dataset: str, validation: bool) -> data.Split:
    """The standard split, or four fifths of its training set and the last fifth."""
    split = getattr(data, dataset.replace("-", "_"))()
    return data.divide(split.X, split.y, int(0.8 * len(split.y))) if validation else split


def last_half(errors: np.ndarray) -> np.ndarray:
    """Errors of rounds T/2 to T."""
    return errors[errors.size // 2 :]


def figure(family: str, errors: np.ndarray) -> tuple[float, int]:
    """What validation compares, and the rounds it belongs to.

    Products do not overfit: the mean over the last half.  Of trees and of our settings the number of rounds is chosen,
    too: the lowest error and the first round that has it.
    """
    if family == "product":
        return float(last_half(errors).mean()), errors.size
    best = int(errors.argmin())
    return float(errors[best]), best + 1


def read(cell: Cell, work: Path) -> State | None:
    """State of a run, None where it has not begun."""
    path = cell.path(work)
    return State.read(path) if path.exists() else None


def choice(dataset: str, family: str, work: Path) -> dict | None:
    """What validation has found, None where it has not seen all candidates."""
    found = {learner: read(Cell(dataset, learner, True), work) for learner in candidates(dataset, family)}
    states = {learner: state for learner, state in found.items() if state is not None and state.rounds}
    if not found or len(states) < len(found):
        return None
    tried = {}
    for learner, state in states.items():
        error, rounds = figure(family, state.errors)
        tried[learner] = {"error": error, "at": rounds, "rounds": state.rounds, "seconds": round(state.seconds, 1)}
    best = min(tried, key=lambda learner: tried[learner]["error"])
    return {"learner": best, "rounds": tried[best]["at"], "tried": tried}


class Runner:
    """Runs cells one after the other until the time is up.

    Parameters
    ----------
    work : Path
        Folder of the state files.
    threads : int
    minutes : float
    rounds, validation_rounds : int or None
        Instead of those of the cells.
    max_bins : int
    """

    def __init__(self, work: Path, threads: int, minutes: float, rounds, validation_rounds, max_bins: int):
        self.work, self.threads, self.max_bins = work, threads, max_bins
        self.deadline = time.monotonic() + 60.0 * minutes
        self.rounds, self.validation_rounds = rounds, validation_rounds

    def run(self, cell: Cell) -> bool:
        """Whether the cell is done; False where the time is up."""
        rounds = (self.validation_rounds if cell.validation else self.rounds) or cell.rounds
        path, split = cell.path(self.work), split_of(cell.dataset, cell.validation)
        with held(path):
            run = LongRun(path, split, cell.parameters(self.max_bins))
            done = run.advance(rounds, self.threads, self.deadline, Lines(cell, rounds, run.state))
        if done:
            say(cell, rounds, run.state, "done")
        return done

    def chosen(self, dataset: str, family: str) -> bool:
        """Validate the candidates of a family and run the best."""
        if not all(self.run(Cell(dataset, learner, True)) for learner in candidates(dataset, family)):
            return False
        found = choice(dataset, family, self.work)
        assert found is not None  # all candidates have been run
        return self.run(Cell(dataset, found["learner"]))


def say(cell: Cell, rounds: int, state: State, end: str) -> None:
    """One line about a run."""
    part = " (validation)" if cell.validation else ""
    half, each = last_half(state.errors), 1e3 * state.seconds / max(1, state.rounds)
    figures = f"   error {half[-1]:6.2f} %, last half {half.mean():6.3f} ({half.std():.3f})" if half.size else ""
    print(
        f"{time.strftime('%H:%M')} {cell.name + part:<32}{state.rounds:>7} of {rounds} rounds{figures}   "
        f"{each:.2f} ms a round   {state.stopped or end}",
        flush=True,
    )


class Lines:
    """One line of progress a minute."""

    def __init__(self, cell: Cell, rounds: int, state: State):
        self.cell, self.rounds = cell, rounds
        self.begin = self.last = time.monotonic()
        self.first = state.rounds

    def __call__(self, state: State) -> None:
        now = time.monotonic()
        if now - self.last >= 60.0 and state.rounds > self.first:
            left = (now - self.begin) / (state.rounds - self.first) * (self.rounds - state.rounds)
            say(self.cell, self.rounds, state, f"{left / 60:.0f} min left")
            self.last = now


def curve(errors: np.ndarray) -> list[tuple[int, float]]:
    """Round and error at rounds that are evenly spaced on a logarithmic scale."""
    at = np.unique(np.geomspace(1, errors.size, CURVE_POINTS).round().astype(int)) if errors.size else []
    return [(int(t), round(float(errors[t - 1]), 4)) for t in at]


def summary(cell: Cell, state: State) -> dict:
    """What is kept of a run."""
    half = last_half(state.errors)
    return {
        "rounds": state.rounds,
        "wanted": cell.rounds,
        "stopped": state.stopped,
        "mean": float(half.mean()),
        "std": float(half.std()),
        "last": float(half[-1]),
        "curve": curve(state.errors),
        "seconds": round(state.seconds, 1),
        "parameters": state.parameters,
        "origins": state.origins,
    }


def collect(work: Path) -> dict:
    """Results of all runs so far."""
    cells: dict[str, dict] = {}
    choices: dict[str, dict] = {}
    for dataset in PUBLISHED:
        for family in ("stump", "product", "tree", "best"):
            for cell in (Cell(dataset, learner) for learner in candidates(dataset, family)):
                state = read(cell, work)
                if state is not None and state.rounds:
                    cells[cell.name] = summary(cell, state)
            found = choice(dataset, family, work) if family != "stump" else None
            if found is None:
                continue
            choices[f"{dataset}/{family}"] = found
            state = read(Cell(dataset, found["learner"]), work)
            if family != "product" and state is not None and state.rounds >= found["rounds"]:
                found["error"] = float(state.errors[found["rounds"] - 1])
    return {"machine": machine(), "cells": cells, "choices": choices}


def merged(path: Path, found: dict) -> dict:
    """Results, and those of the file before them: a cell whose state is gone, or has fewer rounds, stays as it was."""
    before = json.loads(path.read_text()) if path.exists() else {"cells": {}, "choices": {}}
    cells = dict(before["cells"])
    for name, cell in found["cells"].items():
        if name not in cells or cell["rounds"] >= cells[name]["rounds"]:
            cells[name] = cell
    return {**found, "cells": cells, "choices": {**before["choices"], **found["choices"]}}


def _signed(value: float) -> str:
    return f"{value:+.2f}"


def _row(name: str, shown: str, ours: float, spread: str, published: tuple[float, float] | None, cell: dict):
    """A row of a table: ours beside what was published."""
    theirs = [f"{published[0]:.2f} ({published[1]:.2f})", f"{ours:.2f}{spread}", _signed(ours - published[0])]
    rounds = f"{cell['rounds']:,}" + ("" if cell["rounds"] >= cell["wanted"] or cell["stopped"] else " so far")
    return [name, shown, *theirs, rounds]


def _figures(results: dict, dataset: str, learner: str):
    """Our figures of one published cell: (what is shown, error, spread, cell); none where it was not run."""
    cells, choices = results["cells"], results["choices"]
    if learner == "tree":
        found = choices.get(f"{dataset}/tree")
        cell = cells.get(f"{dataset}/{found['learner']}") if found else None
        if not cell:
            return
        leaves = found["learner"].partition(":")[2]
        if "error" in found:
            yield f"tree, {leaves} leaves, round {found['rounds']:,}", found["error"], "", cell
        yield f"tree, {leaves} leaves, last half", cell["mean"], f" ({cell['std']:.2f})", cell
    elif cell := cells.get(f"{dataset}/{learner}"):
        chosen = choices.get(f"{dataset}/product", {}).get("learner") == learner
        yield f"**{learner}**" if chosen else learner, cell["mean"], f" ({cell['std']:.2f})", cell


def _not_run(results: dict, dataset: str) -> str:
    """What validation says of products where the one that it chooses has no row; else nothing."""
    found = results["choices"].get(f"{dataset}/product")
    if found is None or f"{dataset}/{found['learner']}" in results["cells"]:
        return ""
    errors = ", ".join(f"{learner} {tried['error']:.2f}" for learner, tried in found["tried"].items())
    rounds = _range(sorted({tried["rounds"] for tried in found["tried"].values()}))
    lowest = f"{found['learner']}, not run yet, has the lowest validation error at {rounds} rounds"
    return f"{dataset}: {lowest}, of {errors} %."


def section(results: dict) -> str:
    """Both tables as Markdown."""
    rows, large = [], []
    for dataset, published in PUBLISHED.items():
        for learner, theirs in published.items():
            for shown, ours, spread, cell in _figures(results, dataset, learner):
                rows.append(_row(dataset, shown, ours, spread, theirs, cell))
                if abs(ours - theirs[0]) > LARGE:
                    remark = REMARKS.get(f"{dataset}/{learner}")
                    is_done = cell["rounds"] >= cell["wanted"] or cell["stopped"]
                    why = remark or ("not explained yet" if is_done else "the run is not finished")
                    large.append(f"- {dataset}, {shown.strip('*')}: {_signed(ours - theirs[0])} points; {why}")
    head = ["", "learner", "published, %", "ours, %", "difference", "rounds"]
    parts = [
        f"""## Table 3.1 of the seed

Discrete AdaBoost.MH, weights (3.12), standard splits. Test error in per cent, mean over the last half of the rounds,
and in brackets its standard deviation over them. Published: Kégl 2011, Table 3.1. In bold the number of terms that an
80/20 validation on the training set chooses; of trees it chooses leaves and rounds, and the error at that round
stands beside the mean.{_remarks(results)}

{markdown(head, rows)}"""
    ]
    missing = [text for dataset in PUBLISHED if (text := _not_run(results, dataset))]
    if missing:
        parts.append("\n".join(missing))
    if large:
        parts.append(f"Differences of more than {LARGE:g} points:\n\n" + "\n".join(large))
    best = _best(results)
    if best:
        parts.append(best)
    return "\n\n".join(parts)


def _remarks(results: dict) -> str:
    """How long validation was, and what is not as in the source."""
    rounds = sorted({tried["rounds"] for found in results["choices"].values() for tried in found["tried"].values()})
    bins = sorted({cell["parameters"]["max_bins"] for name, cell in results["cells"].items() if "/best" not in name})
    text = f" Validation runs had {_range(rounds)} rounds." if rounds else ""
    return text + (f" Columns of more than {_range(bins)} distinct values are binned." if bins else "")


def _range(values: list[int]) -> str:
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def _best(results: dict) -> str:
    """The second table."""
    rows = []
    for dataset, published in PUBLISHED.items():
        found = results["choices"].get(f"{dataset}/best")
        cell = results["cells"].get(f"{dataset}/{found['learner']}") if found else None
        if not cell or "error" not in found:
            continue
        lowest = min(published, key=lambda learner: published[learner][0])
        seconds = cell["seconds"] * found["rounds"] / cell["rounds"]
        theirs = f"{published[lowest][0]:.2f} ({lowest})"
        setting = BEST[found["learner"].partition(":")[2]]
        shown = f"`{setting['base_learner']}`, {setting['loss']}, steps of {setting['learning_rate']:g}"
        shown += f", {setting['subsample']:g} of the rows" if "subsample" in setting else ""
        half = f"{cell['mean']:.2f} ({cell['std']:.2f})"
        rows.append([dataset, shown, theirs, f"{found['error']:.2f}", f"{found['rounds']:,}", f"{seconds:.0f}", half])
    if not rows:
        return ""
    head = ["", "setting", "lowest published, %", "ours, %", "rounds", "training, s", "last half, %"]
    return f"""## The same sets today

Real votes. The setting, one of {len(BEST)}, and its rounds are chosen by the same validation; the published figure
beside it is the lowest of the table's column, which the test set has chosen. The last column is the estimate of the
table above, the mean over the last half of all rounds of that setting, 1,000 or more.

{markdown(head, rows)}"""


def cells_of(name: str) -> list[str]:
    """Cells that a name on the command line stands for: a data set, a family of one, or one cell."""
    dataset, _, learner = name.partition("/")
    if dataset not in PUBLISHED:
        raise ValueError(f"there is no data set {dataset!r}; there are {', '.join(PUBLISHED)}")
    if not learner:
        return [f"{dataset}/{learner}" for learner in (*PUBLISHED[dataset], "best")]
    if learner == "product":
        return [f"{dataset}/{learner}" for learner in candidates(dataset, "product")]
    families = ("stump", "product", "tree", "best")
    known = ["tree", "best", *(one for family in families for one in candidates(dataset, family))]
    if learner not in known:
        raise ValueError(f"there is no cell {name!r}; {dataset} has {', '.join(known)}")
    return [name]


def main(arguments: list[str] | None = None) -> None:
    """Run the cells that are named, or all; or collect the results."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.table31", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="cell", help="set, set/product, set/tree, set/product:3; default all"
    )
    parser.add_argument("--validate", action="store_true", help="only the runs on four fifths of the training set")
    parser.add_argument("--rounds", type=int, help="instead of 100 000, mnist 20 000")
    parser.add_argument("--validation-rounds", type=int, help=f"instead of {VALIDATION_ROUNDS}")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop cleanly after so many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-bins", type=int, default=65535, help="fewer are not the algorithm of the table")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the state of the runs")
    parser.add_argument("--collect", action="store_true", help="only write the results of all runs so far as JSON")
    parser.add_argument("--results", type=Path, default=RESULTS, help="that file")
    given = parser.parse_args(arguments)
    if given.collect:
        write_json(given.results, merged(given.results, collect(given.work)))
        return
    try:
        names = [cell for name in given.names or PUBLISHED for cell in cells_of(name)]
    except ValueError as problem:
        parser.error(str(problem))
    runner = Runner(
        given.work, given.threads, given.minutes, given.rounds, given.validation_rounds, given.max_bins
    )  # fmt: skip
    for name in dict.fromkeys(names):
        dataset, _, learner = name.partition("/")
        try:
            if not _one(runner, dataset, learner, given.validate):
                print("the time is up; the same command goes on from here")
                break
        except (data.DataMissing, Busy) as problem:
            print(f"skipped {name}: {problem}", flush=True)
        except OtherRun as problem:
            parser.error(str(problem))


def _one(runner: Runner, dataset: str, learner: str, validate: bool) -> bool:
    """One name of the command line."""
    family = learner in ("tree", "best")
    if not validate:
        return runner.chosen(dataset, learner) if family else runner.run(Cell(dataset, learner))
    learners = candidates(dataset, learner) if family else [learner]
    if learner == "stump":  # nothing to choose
        return True
    return all(runner.run(Cell(dataset, one, True)) for one in learners)


if __name__ == "__main__":
    main()
