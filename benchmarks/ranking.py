"""Rankings of MQ2008 (LETOR 4.0), five official folds: ours beside LightGBM and XGBoost.

``make bench-ranking`` prints the figures and writes them to ``benchmarks/results/ranking.json``.  All figures are the
MeanNDCG of LETOR 4.0's own tool on the test folds.  What is chosen is chosen by NDCG@10 on validation folds: size and
rounds of the single tree, rounds and c of the ensemble.  Once for every fold by itself, and once for all folds
together, as the reference does it, by the mean over the validation folds.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_svmlight_file

from multiboost import MultiBoostRanker, ranking_metric
from multiboost.ranking import exponential_weights

from . import data
from .measure import load, machine, write_json

RESULTS = Path(__file__).resolve().parent / "results" / "ranking.json"
THREADS = 2
N_FOLDS = 5
N_COLUMNS = 46
ROUNDS = (10, 25, 50, 75, 100, 200)  # T, the same for all scorers of an ensemble
SHARPNESS = (0, 10, 25, 50, 100, 200)  # c
LEAVES = tuple(range(5, 50, 5))
TERMS = tuple(range(2, 11, 2))
PUBLISHED = {"exponentially weighted ensemble": 0.5006, "best single tree": 0.4843}
SLOPES = (0.5, 1.0, 2.0, 4.0)  # of the link from scores to probabilities: one calibration each


class Part(NamedTuple):
    """Documents, grades and queries."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


def part(*numbers: int) -> Part:
    """Some of the five parts of the data set, together."""
    found = []
    for k in numbers:
        with gzip.open(data.file_of("letor4_mq2008", f"S{k}.txt")) as file:
            X, y, qid = load_svmlight_file(file, query_id=True, n_features=N_COLUMNS)
        found.append((X.toarray(), y, qid))
    return Part(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def fold(k: int) -> tuple[Part, Part, Part]:
    """Training, validation and test part of a fold, from 0."""
    numbers = [(k + i) % N_FOLDS + 1 for i in range(N_FOLDS)]
    return part(*numbers[:3]), part(numbers[3]), part(numbers[4])


def tool(scores: np.ndarray, where: Part) -> float:
    """MeanNDCG of LETOR 4.0's tool."""
    return ranking_metric(where.y, scores, where.qid, "mean_ndcg", convention="letor4")


def omega(scores: np.ndarray, where: Part) -> float:
    """What scorers are chosen and weighed by: NDCG@10 (3.48)."""
    return ranking_metric(where.y, scores, where.qid, "ndcg@10")


def rankers() -> dict[str, MultiBoostRanker]:
    """The models of an ensemble: trees and products of the reference, trees of the logistic loss and of pairs."""
    found = {}
    for n in LEAVES:
        found[f"tree of {n}"] = MultiBoostRanker(f"tree:{n}", max(ROUNDS), n_jobs=1)
        found[f"tree of {n}, logistic"] = MultiBoostRanker(f"tree:{n}", max(ROUNDS), loss="logistic", n_jobs=1)
        found[f"tree of {n}, pairs"] = MultiBoostRanker(f"tree:{n}", max(ROUNDS), loss="lambdarank", n_jobs=1)
    for m in TERMS:
        found[f"product of {m}"] = MultiBoostRanker(f"product:{m}", max(ROUNDS), votes="discrete", n_jobs=1)
    return found


def staged(name: str, ranker: MultiBoostRanker, parts: tuple[Part, Part, Part]) -> dict[int, tuple]:
    """Scores F of the validation and the test part after some rounds."""
    training, *others = parts
    ranker.fit(training.X, training.y, qid=training.qid)
    stages: list[list[np.ndarray]] = []
    for where in others:
        every = [scores.copy() for scores in ranker.staged_decision_function(where.X)]
        stages.append([every[min(t, len(every)) - 1] for t in ROUNDS])
    print(f"  {name}", flush=True)
    return dict(zip(ROUNDS, zip(*stages, strict=True), strict=True))


def scorers(F: np.ndarray) -> list[np.ndarray]:
    """Scores by which documents may be ranked: E[z|x] under several slopes, or the only score; from 0 to 1."""
    if F.ndim == 1:
        return [F]
    z, found = np.array([0.0, 1.0, 3.0]), []
    for slope in SLOPES:
        p = np.exp(slope * (F - F.max(axis=1, keepdims=True)))
        found.append(p @ z / p.sum(axis=1))
    return found


def unit(valid: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both from 0 to 1 by the range of the first."""
    low, span = valid.min(), np.ptp(valid) or 1.0
    return (valid - low) / span, np.clip((test - low) / span, 0.0, 1.0)


class Candidate(NamedTuple):
    """What may be chosen: its NDCG@10 on validation, and its MeanNDCG on the test part."""

    valid: float
    test: float


def trees(members: dict[str, dict[int, tuple]], valid: Part, test: Part) -> dict[tuple, Candidate]:
    """Single trees by their name and rounds: AdaBoost.MH alone, no pairs."""
    found = {}
    for name, stages in members.items():
        if name.startswith("tree") and "," not in name:
            for t in ROUNDS:
                inside, outside = (scorers(F)[SLOPES.index(2.0)] for F in stages[t])
                found[name, t] = Candidate(omega(inside, valid), tool(outside, test))
    return found


def ensembles(members: dict[str, dict[int, tuple]], valid: Part, test: Part) -> dict[tuple, Candidate]:
    """Exponentially weighted ensembles of all scorers by their rounds and c."""
    found = {}
    for t in ROUNDS:
        pairs = [unit(v, s) for stages in members.values() for v, s in zip(*map(scorers, stages[t]), strict=True)]
        reached = np.array([omega(v, valid) for v, _ in pairs])
        inside, outside = (np.stack(columns, axis=1) for columns in zip(*pairs, strict=True))
        for c in SHARPNESS:
            share = exponential_weights(reached, c)
            found[t, c] = Candidate(omega(inside @ share, valid), tool(outside @ share, test))
    return found


def peers(parts: tuple[Part, Part, Part]) -> dict[str, np.ndarray]:
    """LightGBM's and XGBoost's rankers at their defaults."""
    from lightgbm import LGBMRanker
    from xgboost import XGBRanker

    training, _, test = parts
    order = np.argsort(training.qid, kind="stable")
    X, y, qid = (a[order] for a in training)
    light = LGBMRanker(n_jobs=THREADS, verbose=-1).fit(X, y, group=np.unique(qid, return_counts=True)[1])
    other = XGBRanker(n_jobs=THREADS, objective="rank:ndcg").fit(X, y, qid=qid)
    return {"LightGBM lambdarank": light.predict(test.X), "XGBoost rank:ndcg": other.predict(test.X)}


def one_fold(k: int) -> tuple[dict[str, float], dict[str, dict[tuple, Candidate]]]:
    """Figures of a fold for which nothing is chosen, and what may be chosen."""
    parts = fold(k)
    training, valid, test = parts
    found = {name: tool(scores, test) for name, scores in peers(parts).items()}
    for name, loss in (("defaults", "exponential"), ("defaults, lambdarank", "lambdarank")):
        ranker = MultiBoostRanker(loss=loss, n_jobs=THREADS).fit(training.X, training.y, qid=training.qid)
        found[name] = tool(ranker.predict(test.X), test)
    made = Parallel(n_jobs=THREADS)(delayed(staged)(name, ranker, parts) for name, ranker in rankers().items())
    members = dict(zip(rankers(), made, strict=True))
    return found, {
        "best single tree": trees(members, valid, test),
        "exponentially weighted ensemble": ensembles(members, valid, test),
    }


def figures() -> Iterator[dict]:
    """Fold by fold, then means and spreads."""
    values: dict[str, list[float]] = {}
    choices: dict[str, list[dict[tuple, Candidate]]] = {}
    for k in range(N_FOLDS):
        found, open_ones = one_fold(k)
        chosen = {}
        for name, candidates in open_ones.items():
            chosen[name] = max(candidates, key=lambda key: candidates[key].valid)
            found[f"{name}, chosen fold by fold"] = candidates[chosen[name]].test
            choices.setdefault(name, []).append(candidates)
        for name, value in found.items():
            values.setdefault(name, []).append(value)
        yield {"name": f"fold {k + 1}, MeanNDCG", "values": found, "chosen": chosen}
    for name, folds in choices.items():
        best = max(folds[0], key=lambda key: np.mean([one[key].valid for one in folds]))
        values[name] = [one[best].test for one in folds]
        yield {"name": f"{name}, chosen for all folds", "chosen": best, "values": values[name]}
    for name, found in values.items():
        asked, reached = PUBLISHED.get(name.partition(",")[0]), float(np.mean(found))
        ok = None if asked is None else reached >= asked
        spread = float(np.std(found, ddof=1))
        yield {"name": f"{name}, MeanNDCG", "asked": asked, "reached": reached, "ok": ok, "spread": spread}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*feature names.*")
    results: dict = {"machine": machine(), "load_before": load(), "threads": THREADS, "figures": []}
    for found in figures():
        results["figures"].append(found)
        print({key: value for key, value in found.items() if value not in (None, "")}, flush=True)
        write_json(options.out, results)


if __name__ == "__main__":
    main()
