"""``multiboost compare``: a few base learners and settings, cross-validated."""

from __future__ import annotations

import json as jsonlib
import sys
from time import perf_counter
from typing import Any

import numpy as np

from .display import Notices, console, measured, table_of
from .examples import Examples, Roles, asked, check_queries, load, nominal_of
from .failure import BadInput
from .settings import check_parameters
from .task import Task, task_named


def run(
    data: str,
    target,
    task,
    query,
    folds: int,
    rounds: int,
    bases,
    format,
    delimiter,
    labels,
    ignore,
    weight,
    nominal,
    seed,
    jobs,
    quiet,
    json,
) -> None:
    """Compare; the options are those of `app.compare`."""
    task = task_named(task)
    roles = Roles(target or [], weight, ignore or [], task.name, query)
    examples = load(data, roles, format=format, labels=labels, delimiter=delimiter)
    if examples.y is None:
        raise BadInput(f"{examples.file}: which column is {task.wanted}? Name it with --target")
    check_queries(examples, task)
    nominal = nominal_of(examples, nominal)
    if not 2 <= folds <= examples.n_rows:
        raise BadInput(f"--folds must be at least 2 and at most the number of rows; got {folds}")
    candidates = [(base, {"base_learner": base}) for base in bases] if bases else task.candidates
    fold = _folds(examples, folds, seed, task.has_queries)
    found: list[dict[str, Any]] = []
    show = _Progress(len(candidates), folds, silent=quiet or json)
    for name, parameters in candidates:
        clf = task.estimator()(n_estimators=rounds, n_jobs=jobs, nominal_features=nominal, **parameters)
        check_parameters(clf)
        errors, seconds = [], 0.0
        for k in range(folds):
            inside, outside = examples.take(np.flatnonzero(fold != k)), examples.take(np.flatnonzero(fold == k))
            show.fold(name, k)
            begin = perf_counter()
            clf.fit(inside.X, inside.y, callbacks=show.callbacks, **task.arguments(inside))
            seconds += perf_counter() - begin
            errors.append(_error(clf, outside, task))
        found.append(
            {
                "name": name,
                "error": float(np.mean(errors)),
                "standard_error": float(np.std(errors, ddof=1) / np.sqrt(folds)),
                "seconds": seconds / folds,
                "parameters": parameters,
            }
        )
        show.done(name, found[-1])
    found.sort(key=lambda row: row["error"])
    if json:
        print(jsonlib.dumps(found))
        return
    rows = [
        (r["name"], f"{100 * r['error']:.2f} ± {100 * r['standard_error']:.2f}", f"{r['seconds']:.2f}") for r in found
    ]
    name = "error" if task.has_classes else clf.model_.kind.measure
    console(stderr=False).print(table_of(rows, ["", f"{name} in %", "seconds"]))


class _Progress:
    """How far the comparison is, on standard error: a line for every candidate, and in a terminal the fold.

    Parameters
    ----------
    n_candidates, n_folds : int
    silent : bool
    """

    def __init__(self, n_candidates: int, n_folds: int, silent: bool):
        self.n_candidates, self.n_folds, self.silent, self._n_done = n_candidates, n_folds, silent, 0
        self.callbacks = [] if silent else [Notices()]

    def fold(self, name: str, k: int) -> None:
        """A fold begins."""
        if not self.silent and console().is_terminal:
            print(f"\r\x1b[K{name}: fold {k + 1} of {self.n_folds}", end="", file=sys.stderr, flush=True)

    def done(self, name: str, row: dict[str, Any]) -> None:
        """A candidate is done."""
        self._n_done += 1
        if not self.silent:
            print("\r\x1b[K" if console().is_terminal else "", end="", file=sys.stderr)
            text = f"{self._n_done} of {self.n_candidates}, {name}: {measured('error', row['error'])}"
            console().print(text, style="dim", highlight=False)


def _error(clf, examples: Examples, task: Task) -> float:
    """Error on held-out rows: of all labels, or of tasks."""
    from ..evaluation import evaluate

    more = {"curves": False, "n_mistakes": 0, **asked(examples, task)}
    result = evaluate(clf, examples.X, examples.y, examples.sample_weight, **more).headline()
    return float(result[clf.model_.kind.measure.lower().replace(" ", "_")])


def _folds(examples: Examples, folds: int, seed: int, by_query: bool) -> np.ndarray:
    """The fold of every row; classes of a single target are spread evenly, and queries stay whole."""
    n = examples.n_rows
    if by_query:
        assert examples.qid is not None
        number = np.unique(examples.qid, return_inverse=True)[1]
        of_query = np.random.default_rng(seed).permutation(number.max() + 1) % folds
        if of_query.size < folds:
            raise BadInput(f"{examples.file} has {of_query.size} queries, too few for --folds {folds}")
        return of_query[number]
    order = np.random.default_rng(seed).permutation(n)
    if not hasattr(examples.y, "num_rows"):
        order = order[np.argsort(np.unique(examples.y, return_inverse=True)[1][order], kind="stable")]
    fold = np.empty(n, int)
    fold[order] = np.arange(n) % folds
    return fold
