"""Lean classifiers: the toy of Figure 3.16, faces, rankings, and early exit beside LightGBM's.

``make bench-lean`` prints the figures, and writes them to ``benchmarks/results/lean.json`` and pictures beside it.
Parts can be run alone: ``python -m benchmarks.lean toy faces``; figures of other parts stay in the file.  Only
``exits-...`` and ``schedule-...`` measure time: processor time, in turn, one thread each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from multiboost import (
    AdaBoostMHClassifier,
    DecisionDagDisplay,
    LeanCurveDisplay,
    MDDAGClassifier,
    MultiBoostClassifier,
    SoftCascadeClassifier,
    ViolaJonesClassifier,
    WaldBoostClassifier,
    quality_curve,
    ranking_metric,
    staged_detection_curve,
)
from multiboost.evaluation.detection import LeanCurve, LeanRun, detection_run, selected
from multiboost.kernels.team import Team
from multiboost.lean.exits import early_exit, exit_rounds
from multiboost.lean.rates import rows_needed

from . import data, ranking
from .measure import Times, load, machine, write_json

RESULTS = Path(__file__).resolve().parent / "results" / "lean.json"
RATES = (0.1, 0.01, 0.001)
BUDGETS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
BETAS = (0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03)
# Of the exponential reward, whose margins are divided by the sum of all votes: a vote earns little.
SMALL_BETAS = (0.0002, 0.0003, 0.0005, 0.0007, 0.0008, 0.0009, 0.001, 0.0015, 0.0025)
RARE = (0.03, 0.1)  # what a right answer for a negative is worth, that for a positive being worth 1
SEEDS = (0, 1, 2)
EXIT_SETS = ("letter", "pendigits", "usps")
ALLOWED = (0.002, 0.005, 0.01, 0.02)  # shares of answers that may differ; the largest that held-out rows allow
ROOM = 0.001  # by how much the error of held-out rows may rise


def clusters(n: int = 600, seed: int = 0):
    """Two clusters of positives on both sides of a ridge of negatives; 0 is negative, 1 and 2 are the clusters."""
    rng = np.random.default_rng(seed)
    ridge = rng.normal(size=(n, 2)) * [1.0, 0.3] @ np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    sides = [rng.normal(centre, 0.4, (n // 2, 2)) for centre in ([-1, 1], [1, -1])]
    return np.concatenate([ridge, *sides]), np.repeat([0, 1, 2], [n, n // 2, n // 2])


def toy(n_estimators: int = 1000, n_episodes: int = 1_000_000, pictures: Path | None = None) -> dict:
    """Figure 3.16 in kind: how many base classifiers positives need, and which cluster needs which."""
    X, cluster = clusters()
    y = (cluster > 0).astype(int)
    full = AdaBoostMHClassifier("stump", n_estimators=n_estimators).fit(X, y)
    lean = MDDAGClassifier(full, beta=0.01, n_episodes=n_episodes, random_state=0).fit(X, y)
    n, paths = lean.n_evaluated(X), lean.paths(X)
    # How far a positive is from the ridge: the farther, the easier.
    distance = np.abs(X[:, 0] - X[:, 1])[y == 1]
    near, far = (n[y == 1][part].mean() for part in (distance < np.median(distance), distance >= np.median(distance)))
    used = np.stack([paths[cluster == c].mean(axis=0) for c in (1, 2)])
    total = used.sum(axis=0)
    if pictures is not None:
        _toy_pictures(lean, X, cluster, n, used, pictures)
    return {
        "name": "toy",
        "part": "toy",
        "accuracy": lean.score(X, y),
        "accuracy of all": full.score(X, y),
        "mean_evaluated": float(n.mean()),
        "near": float(near),
        "far": float(far),
        # 0: both clusters use the same base classifiers equally often; 1: none in common.
        "selectivity": float(np.abs(used[0] - used[1]).sum() / total.sum()),
        "base classifiers in use": int((total > 0).sum()),
    }


def _toy_pictures(lean, X, cluster, n, used, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    axes[0, 0].scatter(*X.T, c=np.array(["C2", "C0", "C3"])[cluster], s=6)
    axes[0, 0].set(title="positive clusters (blue, red) and negatives")
    shown = axes[0, 1].scatter(*X[cluster > 0].T, c=n[cluster > 0], s=10, cmap="viridis")
    axes[0, 1].set(title="base classifiers evaluated, positives")
    figure.colorbar(shown, ax=axes[0, 1])
    for c, colour in ((0, "C0"), (1, "C3")):
        axes[1, 0].vlines(np.flatnonzero(used[c]) + 1 + 0.3 * c, 0, used[c][used[c] > 0], color=colour)
    axes[1, 0].set(title="share of each cluster that a base classifier is used on", xlabel="base classifier")
    positive = cluster > 0
    DecisionDagDisplay.from_estimator(lean, X[positive], cluster[positive], ax=axes[1, 1])
    figure.tight_layout()
    figure.savefig(folder / "lean-toy.png", dpi=110)
    plt.close(figure)


def cbcl():
    """Pixels of faces and other windows, as the data set divides them; each pixel is its rank in its window.

    Windows have very different light, which a threshold of a pixel cannot make up for.
    """
    content = np.load(data.file_of("faces_cbcl", "mit_cbcl_faces_19x19.npz"))
    X = rankdata(content["X"].reshape(len(content["X"]), -1), axis=1)
    y, test = content["y"].astype(int), content["is_test"].astype(bool)
    y = (y > 0).astype(int)
    return data.Split(X[~test], y[~test], X[test], y[test])


def detectors(full, n_episodes: int) -> dict[str, list]:
    """All methods on the same base classifiers, with some values of their parameters."""
    shared = {"n_jobs": 1, "random_state": 0}
    weights = [{0: w, 1: 1.0} for w in RARE]
    iterated = {"learner": "policy-iteration", "n_episodes": 150_000, "block": 5000, "reward": "exponential"}
    stump = AdaBoostMHClassifier("stump")
    return {
        "MDDAG.I": [
            MDDAGClassifier(full, beta=b, class_weight=w, n_episodes=n_episodes, **shared)
            for b, w in product(BETAS, (None, {0: 5.0}))
        ],
        "MDDAG.EXP": [
            MDDAGClassifier(full, beta=b, class_weight=w, reward="exponential", n_episodes=n_episodes, **shared)
            for b, w in product(SMALL_BETAS, weights)
        ],
        **{
            f"policy iteration, seed {seed}": [
                MDDAGClassifier(full, beta=b, class_weight=w, n_jobs=1, random_state=seed, **iterated)
                for b, w in product(SMALL_BETAS, weights)
            ]
            for seed in SEEDS
        },
        "SoftCascade": [
            SoftCascadeClassifier(full, n_rounds=n, alpha=a, target_tpr=t, n_jobs=1)
            for n, a, t in product((10, 30, 100), (-8.0, 0.0, 8.0), (0.9, 0.97, 0.99))
        ],
        "WaldBoost": [
            WaldBoostClassifier(full, false_negative=f, n_jobs=1)
            for f in (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
        ],
        "Viola-Jones": [
            ViolaJonesClassifier(stump, n_stages=m, stage_tpr=t, stage_fpr=f, max_rounds=100, n_jobs=1)
            for m, t, f in product((4, 8), (0.97, 0.99, 0.995), (0.4, 0.6))
        ],
    }


def faces(pictures: Path | None = None, n_estimators: int = 200, n_episodes: int = 500_000) -> Iterator[dict]:
    """TPR of the test set at fixed FPR over the mean evaluations on negatives, chosen by the rule of the thesis."""
    s = cbcl()
    full = AdaBoostMHClassifier("stump", n_estimators=n_estimators, n_jobs=1).fit(s.X, s.y)
    runs: dict[str, list[list[LeanRun]]] = {}
    for name, several in detectors(full, n_episodes).items():
        begin = process_time()
        runs[name] = [_at_all_rates(clf.fit(s.X, s.y), s) for clf in several]
        print(f"  {name}: {len(several)} runs, {process_time() - begin:.0f} s", flush=True)
    for k, fpr in enumerate(RATES):
        curves: dict[str, LeanCurve] = {
            "AdaBoost": staged_detection_curve(full, s.X_test, s.y_test, fpr=fpr, rounds=50)
        }
        runs_of_seeds = [run for seed in SEEDS for run in runs[f"policy iteration, seed {seed}"]]
        curves |= {
            name: selected([run[k] for run in found], f"TPR at FPR {fpr:g}")
            for name, found in {**runs, "policy iteration, all seeds": runs_of_seeds}.items()
        }
        if pictures is not None:
            import matplotlib

            matplotlib.use("Agg")
            LeanCurveDisplay(curves).plot(most=50).figure_.savefig(pictures / f"lean-faces-{fpr:g}.png", dpi=110)
        yield {
            "name": f"CBCL faces, TPR of the test set at FPR {fpr:g}",
            "part": "faces",
            "budgets": BUDGETS,
            "faces": int(s.y_test.sum()),
            "tpr": {name: [_known(curve.at(b), 4) for b in BUDGETS] for name, curve in curves.items()},
            "evaluated on test negatives": {
                name: [_known(_cost(curve, b), 2) for b in BUDGETS] for name, curve in curves.items()
            },
        }


def _known(value: float, digits: int) -> float | None:
    """None where a method has no run within a budget."""
    return None if np.isnan(value) else round(value, digits)


def _at_all_rates(clf, s) -> list[LeanRun]:
    return [detection_run(clf, s.X, s.y, s.X_test, s.y_test, fpr=fpr) for fpr in RATES]


def _cost(curve: LeanCurve, budget: float) -> float:
    """What the run that is chosen for a budget needs on the test set."""
    within = np.flatnonzero(curve.cost <= budget)
    return float(curve.test_cost[within[-1]]) if within.size else float("nan")


def mq2008(folds: int = 5, n_estimators: int = 100, n_episodes: int = 1_000_000) -> Iterator[dict]:
    """MeanNDCG of LETOR 4.0's tool against evaluations, trees of eight leaves, grades as classes; (3.49) ranks.

    The fold's validation queries choose the run, as they do in the thesis.
    """
    found: dict[str, list[float]] = {"all": [], "half": [], "evaluated": []}
    for k in range(folds):
        train, valid, test = ranking.fold(k)
        y = train.y.astype(int)
        full = MultiBoostClassifier(
            "tree:8", n_estimators=n_estimators, loss="logistic", learning_rate=0.1, calibration=None, n_jobs=1
        ).fit(train.X, y, sample_weight=1 + y)
        runs = [
            MDDAGClassifier(full, beta=b, reward=reward, n_episodes=n_episodes, random_state=0, n_jobs=1).fit(
                train.X, y
            )
            for reward, b in product(("exponential", "logistic"), (0.0005, 0.001, 0.0015, 0.002, 0.003, 0.005))
        ]
        qid = {id(part.X): part.qid for part in (valid, test)}

        def mean_ndcg(clf, X, y, qid=qid):
            grades = clf.predict_proba(X) @ np.array([0.0, 1.0, 3.0])
            return ranking_metric(y, grades, qid[id(X)], "mean_ndcg", convention="letor4")

        curve = quality_curve(runs, mean_ndcg, (valid.X, valid.y), (test.X, test.y), "MeanNDCG")
        within = np.flatnonzero(curve.cost <= n_estimators / 2)
        found["all"].append(mean_ndcg(full, test.X, test.y))
        found["half"].append(float(curve.quality[within[-1]]))
        found["evaluated"].append(float(curve.test_cost[within[-1]]))
    yield {
        "name": "MQ2008, MeanNDCG of all base classifiers and of at most half of them",
        "part": "mq2008",
        "base classifiers": n_estimators,
        "folds": found,
        **{name: float(np.mean(values)) for name, values in found.items()},
    }


def whole_model(name: str):
    """A data set, the rows that are held out of its training part, and a model of the others."""
    s = getattr(data, name)()
    order = np.random.default_rng(0).permutation(len(s.X))
    held, train = np.sort(order[: len(s.X) // 4]), np.sort(order[len(s.X) // 4 :])
    full = MultiBoostClassifier("tree:50", n_estimators=200, loss="exponential", random_state=0, n_jobs=1)
    return s, held, train, full.fit(s.X[train], s.y[train])


def exits(name: str, repeats: int = 5) -> Iterator[dict]:
    """Early exit beside the whole model, and LightGBM with and without its own early exit.

    How many answers may differ is the largest share for which the error of the held-out rows rises by no more than
    ``ROOM``; the test rows choose nothing.
    """
    s, held, train, full = whole_model(name)
    error = 1 - full.score(s.X[held], s.y[held])
    for allowed in ALLOWED:
        if rows_needed(allowed, 0.95) > len(held):
            continue
        tried = full.early_exit(s.X[held], max_disagreement=allowed)
        if 1 - tried.score(s.X[held], s.y[held]) <= error + ROOM:
            lean, chosen = tried, allowed
    rows = [np.ascontiguousarray(x) for x in s.X_test[:1000]]
    one, lean_one = full.compiled(), lean.compiled()
    ways = {
        "whole": lambda full=full, s=s: full.predict(s.X_test),
        "exit": lambda lean=lean, s=s: lean.predict(s.X_test),
        "whole, one row": lambda one=one, rows=rows: [one.predict(x) for x in rows],
        "exit, one row": lambda lean_one=lean_one, rows=rows: [lean_one.predict(x) for x in rows],
        **_lightgbm(s, train),
    }
    times = _in_turn(ways, repeats)
    yield {
        "name": f"{name}: early exit, at most {chosen:g} of the answers differ",
        "part": f"exits-{name}",
        "rounds": full.n_estimators_,
        "evaluated": float(lean.n_evaluated(s.X_test).mean()),
        "error of all, %": 100 * (1 - full.score(s.X_test, s.y_test)),
        "error, %": 100 * (1 - lean.score(s.X_test, s.y_test)),
        "differ, %": 100 * float(np.mean(full.predict(s.X_test) != lean.predict(s.X_test))),
        "seconds": {way: [found.median, found.low, found.high] for way, found in times.items()},
        "batch, of the time of all": times["exit"].median / times["whole"].median,
        "one row, of the time of all": times["exit, one row"].median / times["whole, one row"].median,
        "lightgbm": _lightgbm_errors(ways, s),
    }


def schedule(name: str, repeats: int = 5) -> Iterator[dict]:
    """After which rounds rows may leave: evaluations and times of held-out rows, half of them for the margin."""
    s, held, _, full = whole_model(name)
    half, rest = held[::2], s.X[held[1::2]]
    leans = {}
    for first, growth in product((2, 4, 8), (1.25, 1.5, 2.0)):
        rounds = exit_rounds(full.n_estimators_, first, growth)
        with Team(1) as team:
            policy = early_exit(full.model_, full.model_.table(s.X[half]), team, 0.01, 0.95, rounds)
        lean = clone(full)
        lean._become(replace(full.model_, policy=policy), full.plan_)
        leans[f"first {first}, then {growth:g} times"] = lean
    ways = {way: partial(lean.predict, rest) for way, lean in leans.items()}
    times = _in_turn({"whole": partial(full.predict, rest), **ways}, repeats)
    yield {
        "name": f"{name}: exits, held-out rows of the training set, at most 0.01 differ",
        "part": f"schedule-{name}",
        "evaluated": {way: float(lean.n_evaluated(rest).mean()) for way, lean in leans.items()},
        "of the time of all": {way: times[way].median / times["whole"].median for way in leans},
    }


def _lightgbm(s, train) -> dict:
    """LightGBM's predictions, whole and with its early exit at some margins."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=200, n_jobs=1, verbose=-1, random_state=0).fit(s.X[train], s.y[train])
    booster = model.booster_
    ways = {"LightGBM": lambda: booster.predict(s.X_test, num_threads=1)}
    for margin in (1.5, 3.0, 6.0, 10.0):
        ways[f"LightGBM, exit at {margin:g}"] = lambda margin=margin: booster.predict(
            s.X_test, num_threads=1, pred_early_stop=True, pred_early_stop_freq=5, pred_early_stop_margin=margin
        )
    return ways


def _lightgbm_errors(ways, s) -> dict[str, float]:
    classes = np.unique(s.y)
    return {
        name: 100 * float(np.mean(classes[way().argmax(axis=1)] != s.y_test))
        for name, way in ways.items()
        if name.startswith("LightGBM")
    }


def _in_turn(ways, repeats: int) -> dict[str, Times]:
    """Times of several ways, taken in turn."""
    for way in ways.values():
        way()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            begin = process_time()
            way()
            seconds[name].append(process_time() - begin)
    return {name: Times.of(found) for name, found in seconds.items()}


def _toy(pictures) -> Iterator[dict]:
    yield toy(pictures=pictures)


PARTS = {
    "toy": _toy,
    "faces": faces,
    "mq2008": lambda pictures: mq2008(),
    **{f"exits-{name}": lambda pictures, name=name: exits(name) for name in EXIT_SETS},
    **{f"schedule-{name}": lambda pictures, name=name: schedule(name) for name in EXIT_SETS},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, []])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        begin, found = process_time(), []
        for figure in PARTS[part](options.out.parent):
            found.append(figure)
            print(figure, flush=True)
        kept = json.loads(options.out.read_text())["figures"] if options.out.exists() else []
        figures = [old for old in kept if old["part"] != part] + found
        write_json(options.out, {"machine": machine(), "load": load(), "figures": figures})
        print(f"{part}: {process_time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
