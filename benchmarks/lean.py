"""Lean classifiers: the toy of Figure 3.16, faces, rankings, and early exit beside LightGBM's.

``make bench-lean`` prints the figures, and writes them to ``benchmarks/results/lean.json`` and pictures beside it.
Parts can be run alone: ``python -m benchmarks.lean toy faces``.  Only ``exits`` measures time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np

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
from multiboost.evaluation.detection import LeanCurve, detection_run, selected

from . import data, ranking
from .measure import Times, load, machine, write_json

RESULTS = Path(__file__).resolve().parent / "results" / "lean.json"
RATES = (0.1, 0.01, 0.001)
BUDGETS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
BETAS = (0.0001, 0.0003, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05)
EXIT_SETS = {"letter": 0.002, "pendigits": 0.002, "usps": 0.002}


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
    """Pixels of faces and other windows, as the data set divides them."""
    content = np.load(data.file_of("faces_cbcl", "mit_cbcl_faces_19x19.npz"))
    X = content["X"].reshape(len(content["X"]), -1).astype(np.float64)
    y, test = content["y"].astype(int), content["is_test"].astype(bool)
    y = (y > 0).astype(int)
    return data.Split(X[~test], y[~test], X[test], y[test])


def faces(pictures: Path | None = None, n_estimators: int = 1000, n_episodes: int = 1_000_000) -> Iterator[dict]:
    """TPR of the test set at fixed FPR over the mean evaluations on negatives, chosen by the rule of the thesis."""
    s = cbcl()
    full = AdaBoostMHClassifier("stump", n_estimators=n_estimators).fit(s.X, s.y)
    made = {
        "MDDAG.I": [MDDAGClassifier(full, beta=b, n_episodes=n_episodes, random_state=0) for b in BETAS],
        "MDDAG.EXP": [
            MDDAGClassifier(full, beta=b / 10, reward="exponential", n_episodes=n_episodes, random_state=0)
            for b in BETAS
        ],
        "policy iteration": [
            MDDAGClassifier(full, beta=b, learner="policy-iteration", n_episodes=100_000, random_state=0)
            for b in BETAS[2::3]
        ],
        "SoftCascade": [
            SoftCascadeClassifier(full, n_rounds=n, alpha=a, target_tpr=t)
            for n, a, t in product((10, 30, 100), (-8.0, 0.0, 8.0), (0.9, 0.97, 0.99))
        ],
        "WaldBoost": [
            WaldBoostClassifier(full, false_negative=f) for f in (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
        ],
        "Viola-Jones": [
            ViolaJonesClassifier(AdaBoostMHClassifier("stump"), n_stages=m, stage_tpr=t, stage_fpr=f, max_rounds=100)
            for m, t, f in product((4, 8), (0.97, 0.99, 0.995), (0.4, 0.6))
        ],
    }
    fitted = {name: [clf.fit(s.X, s.y) for clf in several] for name, several in made.items()}
    for fpr in RATES:
        curves: dict[str, LeanCurve] = {
            "AdaBoost": staged_detection_curve(full, s.X_test, s.y_test, fpr=fpr, rounds=50)
        }
        for name, several in fitted.items():
            curves[name] = selected(
                [detection_run(clf, s.X, s.y, s.X_test, s.y_test, fpr=fpr) for clf in several], f"TPR at FPR {fpr:g}"
            )
        if pictures is not None:
            import matplotlib

            matplotlib.use("Agg")
            LeanCurveDisplay(curves).plot(most=50).figure_.savefig(pictures / f"lean-faces-{fpr:g}.png", dpi=110)
        yield {
            "name": f"CBCL faces, TPR of the test set at FPR {fpr:g}",
            "budgets": BUDGETS,
            "tpr": {name: [round(curve.at(b), 4) for b in BUDGETS] for name, curve in curves.items()},
        }


def mq2008(folds: int = 5, n_estimators: int = 100, n_episodes: int = 300_000) -> Iterator[dict]:
    """MeanNDCG of LETOR 4.0's tool against evaluations, trees of eight leaves, grades as classes; (3.49) ranks."""
    found: dict[str, list[float]] = {"all": [], "half": [], "evaluated": []}
    for k in range(folds):
        train, _, test = ranking.fold(k)
        full = AdaBoostMHClassifier("tree:8", n_estimators=n_estimators).fit(train.X, train.y.astype(int))
        runs = [
            MDDAGClassifier(full, beta=b, reward=reward, n_episodes=n_episodes, random_state=0).fit(
                train.X, train.y.astype(int)
            )
            for reward, betas in (("exponential", (1e-5, 1e-4, 3e-4, 1e-3)), ("logistic", (3e-4, 1e-3, 3e-3, 1e-2)))
            for b in betas
        ]
        qid = {id(train.X): train.qid, id(test.X): test.qid}

        def mean_ndcg(clf, X, y, qid=qid):
            grades = clf.predict_proba(X) @ np.array([0.0, 1.0, 3.0])
            return ranking_metric(y, grades, qid[id(X)], "mean_ndcg", convention="letor4")

        curve = quality_curve(runs, mean_ndcg, (train.X, train.y), (test.X, test.y), "MeanNDCG")
        within = np.flatnonzero(curve.cost <= n_estimators / 2)
        found["all"].append(mean_ndcg(full, test.X, test.y))
        found["half"].append(float(curve.quality[within[-1]]) if within.size else float("nan"))
        found["evaluated"].append(float(curve.test_cost[within[-1]]) if within.size else float("nan"))
    yield {
        "name": "MQ2008, MeanNDCG of all base classifiers and of at most half of them",
        "base classifiers": n_estimators,
        "folds": found,
        **{name: float(np.mean(values)) for name, values in found.items()},
    }


def exits(repeats: int = 7) -> Iterator[dict]:
    """Early exit beside the whole model, and LightGBM with and without its own early exit."""
    for name, allowed in EXIT_SETS.items():
        s = getattr(data, name)()
        order = np.random.default_rng(0).permutation(len(s.X))
        held, train = np.sort(order[: len(s.X) // 4]), np.sort(order[len(s.X) // 4 :])
        full = MultiBoostClassifier(random_state=0, n_jobs=1).fit(s.X[train], s.y[train])
        lean = full.early_exit(s.X[held], max_disagreement=allowed)
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
            "name": f"{name}: early exit, at most {allowed:g} of the answers differ",
            "rounds": full.n_estimators_,
            "evaluated": float(lean.n_evaluated(s.X_test).mean()),
            "error of all, %": 100 * (1 - full.score(s.X_test, s.y_test)),
            "error, %": 100 * (1 - lean.score(s.X_test, s.y_test)),
            "differ, %": 100 * float(np.mean(full.predict(s.X_test) != lean.predict(s.X_test))),
            "seconds": {way: found.median for way, found in times.items()},
            "batch, of the time of all": times["exit"].median / times["whole"].median,
            "one row, of the time of all": times["exit, one row"].median / times["whole, one row"].median,
            "lightgbm": _lightgbm_errors(ways, s),
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
            begin = perf_counter()
            way()
            seconds[name].append(perf_counter() - begin)
    return {name: Times.of(found) for name, found in seconds.items()}


def _toy(pictures) -> Iterator[dict]:
    yield toy(pictures=pictures)


PARTS = {"toy": _toy, "faces": faces, "mq2008": lambda pictures: mq2008(), "exits": lambda pictures: exits()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, []])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    results: dict = {"machine": machine(), "load_before": load(), "figures": []}
    for part in options.parts or PARTS:
        begin = perf_counter()
        for found in PARTS[part](options.out.parent):
            results["figures"].append(found)
            print(found, flush=True)
            write_json(options.out, results)
        print(f"{part}: {perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
