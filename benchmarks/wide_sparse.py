"""Wide sparse tables: counts of words, many classes.  A part of ``make bench-saving``.

python -m benchmarks.wide_sparse
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from multiboost import MultiBoostClassifier

from .data import PROJECT
from .measure import error_of, machine, write_json
from .peers import LightGBM, XGBoost

N_TEST = 2568
N_ROWS, N_WORDS, N_CLASSES, N_COUNTS = 6532, 8816, 52, 395_000
_TOPICAL, _TOPIC = 60, 1.1  # words that a class prefers, and the logarithm of how much, in deviations
_OWN = 0.3  # share of a document's words that come from its class, the others come from the language
_TOKENS = 1.31  # words of a document for each one that is new in it
_NOISE = 0.03  # share of the labels that are drawn anew


def word_counts(
    n_rows: int = N_ROWS, n_words: int = N_WORDS, n_classes: int = N_CLASSES, n_counts: int = N_COUNTS, seed: int = 0
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Documents as counts of words, and their classes.

    Words have frequencies by Zipf's law, 1 / (rank + 2.7), classes have sizes by 1 / rank^1.5, and documents have
    log-normal lengths.  A class has words of its own that are more frequent in its documents.

    Returns
    -------
    X : csr_matrix (n_rows, n_words) of float64
        About ``n_counts`` counts above 0.
    y : ndarray (n_rows,) of int
    """
    rng = np.random.default_rng(seed)
    language = 1.0 / (np.arange(n_words) + 2.7)
    language /= language.sum()
    size = (np.arange(n_classes) + 1.0) ** -1.5
    y = np.concatenate([np.arange(n_classes), rng.choice(n_classes, n_rows - n_classes, p=size / size.sum())])
    rng.shuffle(y)
    topics = np.empty((n_classes, n_words))
    for topic in topics:
        topic[:] = language
        own = rng.choice(n_words, _TOPICAL, replace=False, p=language**0.5 / (language**0.5).sum())
        topic[own] *= np.exp(3.0 + _TOPIC * rng.normal(size=own.size))
        topic /= topic.sum()
    length = np.exp(0.7 * rng.normal(size=n_rows))
    length = np.maximum(2, _TOKENS * n_counts / n_rows * length / length.mean()).astype(np.intp)
    language, topics = np.cumsum(language), np.cumsum(topics, axis=1)
    rows, words = [], []
    for i, n in enumerate(length):
        own = rng.random(n) < _OWN
        place = rng.random(n)
        words.append(np.where(own, np.searchsorted(topics[y[i]], place), np.searchsorted(language, place)))
        rows.append(np.full(n, i))
    row, word = np.concatenate(rows), np.minimum(np.concatenate(words), n_words - 1)
    X = sparse.csr_matrix((np.ones(row.size), (row, rng.permutation(n_words)[word])), (n_rows, n_words))
    X.sum_duplicates()
    wrong = rng.random(n_rows) < _NOISE
    y = np.where(wrong, rng.choice(n_classes, n_rows, p=size / size.sum()), y)
    return X, y


def times(repeats: int = 3) -> dict:
    """Processor time of fits at the defaults on one thread, ours and others' in turn, and errors on other documents."""
    X, y = word_counts(N_ROWS + N_TEST, n_counts=round(N_COUNTS * (1 + N_TEST / N_ROWS)))
    train, test = slice(0, N_ROWS), slice(N_ROWS, None)
    small = slice(0, 300)
    MultiBoostClassifier(n_jobs=1).fit(X[small], np.arange(300) % N_CLASSES)  # kernels are compiled before
    makers = {
        "multiboost": lambda: MultiBoostClassifier(n_jobs=1),
        "LightGBM": lambda: LightGBM(threads=1),
        "XGBoost": lambda: XGBoost(threads=1),
    }
    found: dict = {name: {"seconds": [], "error": 0.0} for name in makers}
    for _ in range(repeats):
        for name, make in makers.items():
            begin = time.process_time()
            model = make().fit(X[train], y[train])
            found[name]["seconds"].append(time.process_time() - begin)
            answers = np.asarray(model_of(model).predict(X[test])).ravel()
            found[name]["error"] = error_of(answers, y[test])
    return {"rows": N_ROWS, "words": N_WORDS, "counts": int(X[train].nnz), "classes": N_CLASSES, **found}


def model_of(fitted):
    """Whatever predicts: the peers' helper counts rows by ``len``, which sparse matrices have not."""
    return getattr(fitted, "model_", fitted) if isinstance(fitted, (LightGBM, XGBoost)) else fitted


def main() -> None:
    """Measure, print, and write the results."""
    found = times()
    for name in ("multiboost", "LightGBM", "XGBoost"):
        seconds = ", ".join(f"{s:.1f}" for s in found[name]["seconds"])
        print(f"{name:<12}{seconds:>18} s of one processor   {found[name]['error']:5.1f} % errors")
    write_json(PROJECT / "benchmarks" / "results" / "wide_sparse.json", {"machine": machine(), "wide sparse": found})


if __name__ == "__main__":
    main()
