"""Fuzz the reader of model files for some seconds: ``python -m tests.fuzz_models 300 [seed]``.

Model files are changed byte by byte, and also where it hurts: inside the header and the arrays of an
otherwise sound zip.  A file is refused with `ModelFileError`, or it loads, and then predicting from it stays
within its arrays, and whoever looks into it gets an answer.  All of it within a gigabyte above what the process has
after its imports.
"""

import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from multiboost import (
    AdaBoostMHClassifier,
    Column,
    ExponentialWeighting,
    MedianBoostRegressor,
    ModelFileError,
    MultiBoostClassifier,
    MultiBoostRanker,
    MultiBoostRegressor,
    load_model,
    named_importances,
    round_rules,
)
from multiboost.cli.examples import reading_for, told_by
from multiboost.cli.failure import BadInput

from .limits import limit_memory

SLOW = 5.0
_HUGE = (2**31 - 1, 2**26, 10**9, 10**30)
_WORDS = ("multiboost-model", "tree:3", "nan", "", "discrete", "categories.0", "-1", "é", "{}")


def models(folder: Path) -> list[Path]:
    """Small models of every kind: numeric and nominal, trees, products, labels, tasks, lines, several in a file."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (60, 3)).astype(float)
    y = rng.integers(0, 3, 60)
    made = [
        MultiBoostClassifier("tree:4", 3, nominal_features=[0], loss="exponential").fit(X, y),
        MultiBoostClassifier("product:2", 3, votes="discrete").fit(X, y),
        MultiBoostClassifier("tree:3/product:2", 2, nominal_features=[1, 2]).fit(
            X, np.stack([y > 0, y > 1], axis=1) * 1
        ),
        MultiBoostClassifier("stump", 3).fit(X, np.stack([y, y % 2], axis=1)),
        MultiBoostRegressor("tree:3", 3, loss="quantile", quantile=[0.1, 0.9]).fit(X, X[:, 0] + y),
        MultiBoostRegressor(Column(), 3).fit(X, X[:, 0] + y),
        MedianBoostRegressor(n_estimators=3).fit(X, X[:, 0] + y),
        MultiBoostRanker("tree:3", 3).fit(X, y, qid=np.arange(60) // 6),
    ]
    made.append(MultiBoostClassifier("stump", 2, init=made[1]).fit(X, y))
    made.append(made[0].early_exit(X, max_disagreement=0.3, confidence=0.5))
    members = [AdaBoostMHClassifier("stump", 3), MultiBoostClassifier("stump", 2, loss="logistic")]
    made.append(ExponentialWeighting(members, rounds=[2], c=[1.0]).fit(X, y, validation=(X, y)))
    paths = []
    for k, clf in enumerate(made):
        paths.append(folder / f"{k}.mb")
        clf.save(paths[-1])
    made[0].set_params(n_estimators=4).fit(X, y, checkpoint=folder / "checkpoint.mb")
    return [*paths, folder / "checkpoint.mb"]


def _change_array(data: bytes, rng: random.Random) -> bytes:
    """An array with some numbers, its length, type or shape changed."""
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False).copy()
    kind = rng.randrange(7)
    if kind == 6:  # much of nothing, which hardly takes a byte of the file
        array = np.zeros(rng.choice([1 << 10, 1 << 20, 1 << 24] if rng.random() < 0.1 else [1 << 16]), array.dtype)
    elif kind <= 2 and array.size and array.dtype.kind in "iufb":
        flat = array.reshape(-1)
        for _ in range(rng.choice([1, 1, 3])):
            extreme = (
                [np.nan, np.inf]
                if array.dtype.kind == "f" and rng.random() < 0.2
                else [0, 1, -1, 2**31 - 1, -(2**31), 2**62, -(2**62), rng.randrange(-50, 50)]
            )
            with np.errstate(all="ignore"):
                flat[rng.randrange(flat.size)] = np.array(rng.choice(extreme)).astype(array.dtype)
    elif kind == 3:
        array = array[: rng.randrange(len(array) + 1)] if array.ndim else array
    elif kind == 4 and array.dtype.kind != "U":
        with np.errstate(all="ignore"):
            array = array.astype(rng.choice([np.float32, np.int64, np.uint8, np.float64]))
    else:
        array = np.concatenate([array, array]) if array.ndim else array
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
    return out.getvalue()


def _part_of(header: dict, rng: random.Random) -> dict:
    """The header, or a dictionary somewhere inside of it that is not empty."""
    while rng.random() < 0.4:
        values = [v for value in header.values() for v in (value if isinstance(value, list) else [value])]
        inside = [v for v in values if isinstance(v, dict) and v]
        if not inside:
            break
        header = rng.choice(inside)
    return header


def _change_header(data: bytes, rng: random.Random) -> bytes:
    whole = json.loads(data)
    header = _part_of(whole, rng)
    key = rng.choice(sorted(header))
    kind = rng.randrange(6)
    if kind == 4:
        header[rng.choice(["n_features", "tasks", "schema", "slope"])] = rng.choice(_HUGE)
    elif kind == 5:
        told = {name: rng.choice([None, 3, "x", [], [1], {}]) for name in ("file", "rows", "target", "ignore", "names")}
        header["data"] = {name: value for name, value in told.items() if rng.random() < 0.3}
    elif kind == 0:
        del header[key]
    elif kind == 1:
        header[key] = rng.choice([None, -1, 10**9, 0.5, [], {}, *_WORDS])
    elif kind == 2 and isinstance(header.get("parameters"), dict) and header["parameters"]:
        name = rng.choice(sorted(header["parameters"]))
        header["parameters"][name] = rng.choice([None, -1, "x", [1], {}])
    else:
        header[rng.choice(_WORDS)] = 1
    return json.dumps(whole).encode()


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A changed model file."""
    if rng.random() < 0.3:
        changed = bytearray(data)
        for _ in range(rng.choice([1, 2, 8])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed[: rng.randrange(1, len(changed) + 1)] if rng.random() < 0.3 else changed)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < 0.05:
        entries["extra.npy"] = _zeros(1 << 24)
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(sorted(entries))
        if rng.random() < 0.1:
            del entries[name]
            if not entries:
                break
        elif name.endswith(".npy"):
            entries[name] = _change_array(entries[name], rng)
        else:
            entries[name] = _change_header(entries[name], rng)
    if rng.random() < 0.02:
        entries["header.json"] = b"[" * 50_000
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def _zeros(count: int) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.zeros(count), allow_pickle=False)
    return out.getvalue()


def survive(path: Path) -> str:
    """Refused, or loaded and used; anything else is an error of ours."""
    try:
        clf = load_model(path)
    except ModelFileError:
        return "refused"
    X = np.array([[0.0, 3.0, np.nan], [11.0, 5.5, 2.0], [7.0, -1.0, 1e9]])
    fits = clf.n_features_in_ == X.shape[1]
    if fits:
        clf.set_params(n_jobs=1).predict(X)
    if isinstance(clf, ExponentialWeighting):
        return "loaded"
    if fits and clf.model_.kind.adds_up:
        clf.compiled().predict(X[0])
    named_importances(clf)
    str(round_rules(clf, [1])[0])
    try:
        told_by(clf.model_)
        reading_for(clf.model_, "a.csv", None)
    except BadInput:
        return "refused by the command"
    return "loaded"


def fuzz(seconds: float, seed: int, limited: bool = False) -> Counter:
    """Fuzz for a while; counts what became of the files.  ``limited``: with little memory, for a process of its own."""
    rng = random.Random(seed)
    found: Counter = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = [path.read_bytes() for path in models(folder)]
        for data in sound:  # what is compiled and imported now is not what files cost
            (folder / "sound.mb").write_bytes(data)
            survive(folder / "sound.mb")
        if limited:
            limit_memory()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            path = folder / "changed.mb"
            data = mutate(rng.choice(sound), rng)
            path.write_bytes(data)
            begin = time.monotonic()
            try:
                found[survive(path)] += 1
            except BaseException:
                keep = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{found.total()}.mb"
                keep.write_bytes(data)
                print(f"seed {seed}: this file is to blame: {keep}")
                raise
            assert time.monotonic() - begin < SLOW, "a model file takes too long"
    return found


if __name__ == "__main__":
    print(dict(fuzz(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, limited=True)))
