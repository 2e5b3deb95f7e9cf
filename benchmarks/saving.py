"""What samplers save: time to the error that training without them reaches.

    python -m benchmarks.saving mnist isolet covertype

Times are processor times of one thread, from the call of ``fit``, so with binning.  Test errors are known after every
round from the finished model.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from multiboost import Callback
from multiboost.samplers import EXP3P, UCB, Lazy, MinimalVariance, Share

from . import data
from .curve import Curve, log_rounds
from .measure import error_of, machine, write_json
from .ours import REAL, ours, warm_up

RESULTS = data.PROJECT / "benchmarks" / "results"
ROUNDS, MORE = 200, 400  # of plain training, and of samplers, whose rounds are shorter


class Clock(Callback):
    """Processor seconds from its making to the end of every round."""

    def __init__(self):
        self.begun, self.seconds = time.process_time(), []

    def after_round(self, run):
        self.seconds.append(time.process_time() - self.begun)
        return False


def samplers_of(n_columns: int) -> dict[str, dict]:
    """Parameters of each contestant, by name; bandits pull a tenth of the columns."""
    pulls = max(2, n_columns // 10)
    return {
        "plain": {},
        "share 0.2": {"row_sampler": Share(0.2)},
        "mvs 0.2": {"row_sampler": MinimalVariance(0.2)},
        "lazy 0.1": {"column_sampler": Lazy(0.1)},
        "lazy 0.03": {"column_sampler": Lazy(0.03)},
        "ucb": {"column_sampler": UCB(pulls)},
        "exp3p": {"column_sampler": EXP3P(pulls)},
        "lazy 0.1, mvs 0.2": {"column_sampler": Lazy(0.1), "row_sampler": MinimalVariance(0.2)},
    }


def curve_of(split: data.Split, learner: str, rounds: int, **parameters) -> Curve:
    """Test errors after every round, with the processor seconds so far."""
    if not {"row_sampler", "subsample"} & set(parameters):
        parameters = {**parameters, "subsample": 1.0}
    clock = Clock()
    model = ours(learner, rounds, threads=1, calibration=None, **parameters)
    model.fit(split.X, split.y, callbacks=[clock])
    errors = [error_of(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)]
    return Curve.of(range(1, len(errors) + 1), clock.seconds, errors)


def smoothed(errors, width: int = 5) -> np.ndarray:
    """The median of the last few rounds: one lucky round is no result."""
    return np.array([np.median(errors[max(0, t - width + 1) : t + 1]) for t in range(len(errors))])


def race(name: str, learner: str = "tree:50", only=None) -> dict:
    """All contestants on one data set, one after the other in one process."""
    split = getattr(data, name)()
    curves = {}
    for sampler, parameters in samplers_of(split.X.shape[1]).items():
        if only and sampler not in only:
            continue
        given = {**REAL, **parameters}
        warm_up(split.X, split.y, base_learner=learner, calibration=None, **given)
        curves[sampler] = curve_of(split, learner, ROUNDS if sampler == "plain" else MORE, **given)
        print(name, sampler, f"{curves[sampler].seconds[-1]:.1f} s, {curves[sampler].errors[-1]:.2f} %", flush=True)
    level = float(smoothed(curves["plain"].errors)[-1])
    plain = curves["plain"].seconds[-1]
    found = {"data": name, "learner": learner, "level": level, "plain_seconds": plain, "to_level": {}, "curves": {}}
    for sampler, curve in curves.items():
        reached = np.flatnonzero(smoothed(curve.errors) <= level + 1e-9)
        if reached.size:
            at = int(reached[0])
            found["to_level"][sampler] = {
                "round": at + 1,
                "seconds": curve.seconds[at],
                "ratio": curve.seconds[at] / plain,
            }
        keep = np.array(log_rounds(len(curve.rounds), 60)) - 1
        found["curves"][sampler] = Curve(*(np.array(values)[keep].tolist() for values in curve))._asdict()
    return found


def main(names) -> None:
    for name in names:
        write_json(RESULTS / f"saving-{name}.json", {**race(name), "machine": machine()})


if __name__ == "__main__":
    main(sys.argv[1:] or ["mnist", "isolet"])
