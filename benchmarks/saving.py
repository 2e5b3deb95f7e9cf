"""What samplers save: time to the error that training without them reaches, and on covertype to the best peer's.

    python -m benchmarks.saving mnist isolet covertype plants pairs many

Times are processor times of one thread, from the call of ``fit``, so with binning.  Test errors are known after every
round from the finished model.  What draws at random runs with several seeds, and its errors and seconds are their
means: with one seed an error is reached by chance.  Each contestant is a cell, written when it is done: stop it at any
time, it goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from multiboost import Callback
from multiboost.plugins import RowSampler
from multiboost.samplers import EXP3P, UCB, Heaviest, Lazy, MinimalVariance, RandomLabels, Share, Trimming

from . import data
from .cells import Cell, Results, run
from .curve import Curve, log_rounds
from .measure import error_of, version
from .ours import REAL, ours, warm_up
from .peers import LightGBM, XGBoost

RESULTS = data.PROJECT / "benchmarks" / "results" / "saving.json"
PARTS = ("mnist", "isolet", "covertype", "plants", "pairs", "many")
LEARNERS = {
    "mnist": "tree:50", "isolet": "tree:50", "covertype": "tree:1500", "plants": "tree:100", "pairs": "tree:100",
    "many": "tree:100",
}  # fmt: skip
ROUNDS = {  # of plain training, and of samplers
    "mnist": (200, 400), "isolet": (200, 400), "covertype": (60, 60), "plants": (100, 200), "pairs": (100, 200),
    "many": (50, 100),
}  # fmt: skip
SEEDS = {"mnist": 3, "isolet": 3, "covertype": 1, "plants": 5, "pairs": 2, "many": 1}
PEERS = {LightGBM: 1000, XGBoost: 1000}  # rounds


@dataclass(frozen=True)
class Goss(RowSampler):
    """The heaviest samples, and some of the others, which count more (Ke et al. 2017)."""

    top: float = 0.1
    other: float = 0.1
    name = "goss"

    def rows(self, run):
        n = run.n_samples
        order = np.argsort(-np.abs(run.pull).sum(axis=1), kind="stable")
        n_top, n_other = round(self.top * n), round(self.other * n)
        some = np.random.default_rng((run.seed, run.n_rounds)).permutation(n - n_top)[:n_other]
        times = np.zeros(n)
        times[order[:n_top]] = 1.0
        times[order[n_top:][some]] = (1 - self.top) / self.other
        return times


class Clock(Callback):
    """Processor seconds from its making to the end of every round."""

    def __init__(self):
        self.begun, self.seconds = time.process_time(), []

    def after_round(self, run):
        self.seconds.append(time.process_time() - self.begun)
        return False


@lru_cache(maxsize=1)
def split_of(name: str) -> data.Split:
    """A data set; all rows of covertype, a tenth of them for test.

    "pairs": two digits side by side, 100 classes; "many": 300 generated classes.
    """
    if name == "pairs":
        return data.pairs(data.pendigits(), 10_000, 5_000)
    if name == "many":
        X, y = data.generated(40_000, 20, 300)
        return data.Split(X[:30_000], y[:30_000], X[30_000:], y[30_000:])
    if name != "covertype":
        return getattr(data, name)()
    n = 581_012
    return data.covertype(n - n // 10)


def samplers_of(name: str) -> dict[str, dict]:
    """Parameters of each contestant, by name; bandits pull a tenth of the columns."""
    if name in ("plants", "pairs", "many"):
        found: dict[str, dict] = {"plain": {}}
        for share in (0.25, 0.1, 0.04):
            found[f"heaviest {share}"] = {"label_sampler": Heaviest(share)}
            found[f"random {share}"] = {"label_sampler": RandomLabels(share)}
        return found
    n_columns = {"mnist": 784, "isolet": 617, "covertype": 54}[name]
    pulls = max(2, n_columns // 10)
    common: dict[str, dict] = {
        "plain": {},
        "share 0.2": {"row_sampler": Share(0.2)},
        "mvs 0.2": {"row_sampler": MinimalVariance(0.2)},
        "goss 0.1, 0.1": {"row_sampler": Goss()},
        "trimming 0.9": {"row_sampler": Trimming()},
    }
    if n_columns < 100:
        return {**common, "lazy 0.5": {"column_sampler": Lazy(0.5)}}
    return {
        "plain": {},
        "lazy 0.1": {"column_sampler": Lazy(0.1)},
        "lazy 0.03": {"column_sampler": Lazy(0.03)},
        "lazy 0.1, mvs 0.2": {"column_sampler": Lazy(0.1), "row_sampler": MinimalVariance(0.2)},
        "lazy 0.1, trimming 0.9": {"column_sampler": Lazy(0.1), "row_sampler": Trimming()},
        "lazy 0.3, trimming 0.9": {"column_sampler": Lazy(0.3), "row_sampler": Trimming()},
        "lazy 0.1, 24 bins": {"column_sampler": Lazy(0.1), "max_bins": 24},
        "ucb": {"column_sampler": UCB(pulls)},
        "exp3p": {"column_sampler": EXP3P(pulls)},
        "ucb, nodes": {"column_sampler": UCB(max(2, pulls // 8), per="node")},
        "exp3p, nodes": {"column_sampler": EXP3P(max(2, pulls // 8), per="node")},
        **common,
    }


def curve_of(name: str, rounds: int, parameters: dict) -> dict:
    """Test errors after every round, with the processor seconds so far."""
    split = split_of(name)
    given = {**REAL, **parameters}
    if "row_sampler" not in given:
        given["subsample"] = 1.0
    warm_up(split.X, split.y, base_learner=LEARNERS[name], calibration=None, **given)
    seconds, errors = [], []
    for seed in range(SEEDS[name] if parameters else 1):
        clock = Clock()
        model = ours(LEARNERS[name], rounds, threads=1, calibration=None, random_state=seed, **given)
        model.fit(split.X, split.y, callbacks=[clock])
        seconds.append(clock.seconds)
        errors.append([error_of(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)])
        print(f"{name}, {clock.seconds[-1]:.1f} s, {errors[-1][-1]:.2f} %, {parameters}, seed {seed}", flush=True)
    means = np.mean(seconds, axis=0).tolist(), np.mean(errors, axis=0).tolist()
    spread = [[found[-1] for found in errors], [found[-1] for found in seconds]]
    return {"curve": Curve.of(range(1, rounds + 1), *means)._asdict(), "last of each seed": spread}


def peer_of(name: str, peer, rounds: int) -> dict:
    """A peer's errors; processor seconds are in proportion to the rounds."""
    split = split_of(name)
    begin = time.process_time()
    model = peer(rounds, threads=1).fit(split.X, split.y)
    seconds = time.process_time() - begin
    at = log_rounds(rounds, 30)
    errors = [error_of(predicted, split.y_test) for predicted in model.staged(split.X_test, at)]
    print(f"{name}, {seconds:.1f} s, {errors[-1]:.2f} %, {peer.name}", flush=True)
    return {"curve": Curve.of(at, [seconds * t / rounds for t in at], errors)._asdict()}


def smoothed(errors, width: int = 5) -> np.ndarray:
    """The median of the last few rounds: one lucky round is no result."""
    return np.array([np.median(errors[max(0, t - width + 1) : t + 1]) for t in range(len(errors))])


def summary(name: str, results: Results) -> dict:
    """Time to the error of plain training at its last round, and to the best peer's, in units of their time."""
    curves = {key: Curve(**found["curve"]) for key in samplers_of(name) if (found := results.found(f"{name}/{key}"))}
    marks = {"plain": (float(smoothed(curves["plain"].errors)[-1]), curves["plain"].seconds[-1])}
    for peer in PEERS:
        if found := results.found(f"{name}/{peer.name}"):
            marks[peer.name] = found["curve"]["errors"][-1], found["curve"]["seconds"][-1]
    of_peers = {key: mark for key, mark in marks.items() if key != "plain"}
    best = min(of_peers, key=lambda key: of_peers[key][0], default=None)
    against: dict[str, dict] = {}
    for mark in ("plain",) if best is None else ("plain", best):
        level, seconds = marks[mark]
        against[mark] = {"error": level, "seconds": seconds, "reached": {}}
        for key, curve in curves.items():
            at = np.flatnonzero(smoothed(curve.errors) <= level + 1e-9)
            if at.size:
                now = curve.seconds[at[0]]
                ratio = round(now / seconds, 4)
                against[mark]["reached"][key] = {"round": int(at[0]) + 1, "seconds": now, "ratio": ratio}
                print(f"{name}: {key:<20} {ratio:.3f} of {mark}'s time to {level:.2f} %, round {at[0] + 1}", flush=True)
            else:
                lowest = float(smoothed(curve.errors).min())
                print(f"{name}: {key:<20} does not reach {mark}'s {level:.2f} %, lowest {lowest:.2f} %", flush=True)
    return {"against": against}


def cells(name: str) -> Iterator[Cell]:
    """The contestants of a data set, and what follows from them."""
    for key, parameters in samplers_of(name).items():
        rounds = ROUNDS[name][key != "plain"]
        settings = {"learner": LEARNERS[name], "rounds": rounds, **REAL, "samplers": repr(parameters)}
        settings["seeds"] = SEEDS[name] if parameters else 1
        yield Cell(f"{name}/{key}", settings, lambda _, r=rounds, p=parameters: curve_of(name, r, p))
    after = [f"{name}/{key}" for key in samplers_of(name)]
    if name == "covertype":
        for peer, rounds in PEERS.items():
            settings = {"rounds": rounds, "version": version(peer.package)}
            key = f"{name}/{peer.name}"
            yield Cell(key, settings, lambda _, p=peer, r=rounds: peer_of(name, p, r), ours=False)
            after.append(key)
    yield Cell(f"{name}/summary", {}, lambda results: summary(name, results), after=tuple(after))


def main(words: list[str]) -> None:
    """Measure some parts, or all; with ``--keep`` cells of an older state of our code stay."""
    plan = [cell for name in PARTS for cell in cells(name)]
    names = [word for word in words if word != "--keep"] or PARTS
    run([cell for name in names for cell in cells(name)], Results(RESULTS, keep="--keep" in words), plan)


if __name__ == "__main__":
    main(sys.argv[1:])
