"""Data sets of the benchmarks, as arrays or, where columns are nominal, as pandas data frames."""

from __future__ import annotations

import csv
import gzip
import lzma
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.io import loadmat

if TYPE_CHECKING:
    import pandas as pd

PROJECT = Path(__file__).resolve().parents[1]


class DataMissing(Exception):
    """The folder or a file of the data sets is not there, or cannot be read here."""


class Split(NamedTuple):
    """Training and test part of a data set; X may be a data frame."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def root() -> Path:
    """Folder of the data sets: MULTIBOOST_DATA, or ../shared/data from the project's root."""
    given = os.environ.get("MULTIBOOST_DATA")
    folder = Path(given) if given else PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        where = "MULTIBOOST_DATA names no folder" if given else "set MULTIBOOST_DATA to their folder"
        raise DataMissing(f"the data sets are not here; {where}")
    return folder


def file_of(*names: str) -> Path:
    """A file of the data folder, with or without .gz."""
    path = root().joinpath(*names)
    for found in (path, path.with_name(path.name + ".gz")):
        if found.is_file():
            return found
    raise DataMissing(f"{'/'.join(names)} is not in the data folder")


def open_text(path: Path):
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="latin-1")
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="latin-1")
    return open(path, encoding="latin-1")


def _table(path: Path, dtype=np.float64, **options) -> np.ndarray:
    with open_text(path) as lines:
        return np.loadtxt(lines, dtype=dtype, delimiter=",", **options)


def pendigits() -> Split:
    """Pen strokes, 10 digits."""
    train, test = _table(file_of("pendigits", "pendigits.tra")), _table(file_of("pendigits", "pendigits.tes"))
    return Split(train[:, :-1], train[:, -1].astype(int), test[:, :-1], test[:, -1].astype(int))


def letter() -> Split:
    """Letters from 16 integer features, the first 16000 rows for training."""
    rows = _table(file_of("letter", "letter-recognition.data"), dtype=str)
    X, y = rows[:, 1:].astype(np.float64), np.unique(rows[:, 0], return_inverse=True)[1]
    return Split(X[:16000], y[:16000], X[16000:], y[16000:])


def usps() -> Split:
    """Digits of 16 x 16 grey pixels in [0, 1]."""
    try:
        import h5py
    except ImportError:
        raise DataMissing("usps needs the package h5py") from None
    with h5py.File(file_of("usps", "usps.h5")) as file:
        parts = [np.asarray(file[part][what]) for part in ("train", "test") for what in ("data", "target")]
    return Split(parts[0].astype(np.float64), parts[1].astype(int), parts[2].astype(np.float64), parts[3].astype(int))


def usps_smoothed(width: float = 0.75) -> Split:
    """The same, pictures convolved with a Gaussian of so many pixels, with background around them: see ``table31``."""
    from scipy.ndimage import gaussian_filter

    def smoothed(X):
        pictures = X.reshape(-1, 16, 16)
        return gaussian_filter(pictures, (0.0, width, width), mode="constant").reshape(X.shape)

    X, y, X_test, y_test = usps()
    return Split(smoothed(X), y, smoothed(X_test), y_test)


def isolet() -> Split:
    """Spoken letters; the speakers of the test part are others."""
    parts = [loadmat(file_of("isolet", name)) for name in ("Isolet1.mat", "Isolet2.mat", "Isolet3.mat", "Isolet4.mat")]
    test = loadmat(file_of("isolet", "isolet5.mat"))
    X, y = np.vstack([part["fea"] for part in parts]), np.concatenate([part["gnd"].ravel() for part in parts])
    return Split(
        X.astype(np.float64), y.astype(int) - 1, test["fea"].astype(np.float64), test["gnd"].ravel().astype(int) - 1
    )


def _idx(path: Path) -> np.ndarray:
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        content = file.read()
    dimensions = content[3]
    shape = np.frombuffer(content, ">i4", dimensions, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist() -> Split:
    """Digits of 28 x 28 pixels as uint8."""
    parts = [
        _idx(file_of("mnist", f"{part}-{what}"))
        for part in ("train", "t10k")
        for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
    ]
    return Split(
        parts[0].reshape(-1, 784).copy(), parts[1].astype(int), parts[2].reshape(-1, 784).copy(), parts[3].astype(int)
    )


def divide(X: np.ndarray, y: np.ndarray, n_train: int, seed: int = 0, n_test: int | None = None) -> Split:
    """A random split, the same for the same seed."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train:][:n_test]
    return Split(X[train], y[train], X[test], y[test])


def magic(seed: int = 0) -> Split:
    """Gamma rays against background, two thirds for training."""
    rows = _table(file_of("magic", "magic04.data"), dtype=str)
    X, y = rows[:, :-1].astype(np.float64), (rows[:, -1] == "g").astype(int)
    return divide(X, y, 2 * len(y) // 3, seed)


def covertype(n_train: int, seed: int = 0, n_test: int | None = None) -> Split:
    """Forest cover, ``n_train`` random rows for training and the others, or ``n_test`` of them, for test."""
    source = file_of("covertype", "covtype.csv.xz")
    cache = Path(tempfile.gettempdir()) / f"multiboost-covertype-{source.stat().st_size}.npy"
    if not cache.exists():
        fresh = cache.with_suffix(f".{os.getpid()}.npy")
        np.save(fresh, _table(source, dtype=np.int16, skiprows=1))
        os.replace(fresh, cache)
    rows = np.load(cache)
    return divide(rows[:, :-1].astype(np.float32), rows[:, -1].astype(int) - 1, n_train, seed, n_test)


class Standard(NamedTuple):
    """A well-known set: how to load it from the data folder, and what it is on OpenML.

    ``counts`` are the rows of each class in the standard training part, in increasing order; empty where the split is
    a random one anyway.  ``dtype`` is that of the table in the data folder.
    """

    load: Callable[[], Split]
    name: str
    version: int
    n_train: int
    counts: tuple[int, ...] = ()
    n_test: int | None = None
    dtype: type = np.float64


STANDARD = {
    "pendigits": Standard(pendigits, "pendigits", 1, 7494, (719, 719, 719, 720, 720, 778, 779, 780, 780, 780)),
    "letter": Standard(
        letter, "letter", 1, 16000,
        (576, 583, 587, 590, 593, 594, 597, 599, 604, 609, 613, 614, 615, 616, 617, 622, 628, 628, 630, 633, 635, 638,
         641, 645, 645, 648),
    ),
    "usps": Standard(usps, "USPS", 2, 7291, (542, 556, 644, 645, 652, 658, 664, 731, 1005, 1194)),
    "isolet": Standard(isolet, "isolet", 1, 6238, (238, *25 * (240,))),
    "mnist": Standard(
        mnist, "mnist_784", 1, 60000, (5421, 5842, 5851, 5918, 5923, 5949, 5958, 6131, 6265, 6742), dtype=np.uint8
    ),
    "covertype": Standard(
        lambda: covertype(100_000, n_test=50_000), "covertype", 3, 100_000, n_test=50_000, dtype=np.float32
    ),
}  # fmt: skip


class Known(NamedTuple):
    """A standard set and where it comes from."""

    split: Split
    origin: str


def fetch_openml(name: str, version: int) -> tuple[np.ndarray, np.ndarray]:
    """Table and classes from OpenML, by way of scikit-learn, which keeps them in its own cache."""
    from sklearn.datasets import fetch_openml

    return fetch_openml(name, version=version, as_frame=False, return_X_y=True, n_retries=1)


def from_openml(name: str, fetch=fetch_openml) -> Known:
    """A standard set from OpenML.

    Its rows may be in the standard order, training part first, or in another.  If its first rows have the standard
    part's numbers of rows of each class, that is taken as proof of the order; else the split is random, with seed 0.
    """
    known = STANDARD[name]
    try:
        X, y = fetch(known.name, known.version)
    except (OSError, ValueError) as problem:
        raise DataMissing(f"{name} is neither in a data folder nor to be had from OpenML: {problem}") from problem
    X, y = np.asarray(X), np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    if X.dtype == np.float64 and (X.astype(np.uint8) == X).all():
        X = X.astype(np.uint8)
    elif not np.issubdtype(X.dtype, np.number):
        X = X.astype(np.float64)
    n = known.n_train
    if len(y) <= n:
        raise DataMissing(f"{name} has {len(y)} rows on OpenML where more than {n} were expected")
    if known.counts and tuple(sorted(np.bincount(y[:n]).tolist())) == known.counts:
        return Known(Split(X[:n], y[:n], X[n:], y[n:]), "OpenML, the standard split")
    return Known(divide(X, y, n, n_test=known.n_test), f"OpenML, {n} random rows for training, seed 0")


def standard(name: str, fetch=fetch_openml) -> Known:
    """A standard set from the data folder or, where it is not there, from OpenML."""
    try:
        return Known(STANDARD[name].load(), "data folder")
    except DataMissing:
        return from_openml(name, fetch)


def generated(n: int, d: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns as float32; the class is the highest of as many noisy linear functions.

    Made in parts, so that nothing but the table itself takes memory.
    """
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, n_classes)).astype(np.float32) / np.float32(np.sqrt(d))
    X, y = np.empty((n, d), np.float32), np.empty(n, np.int64)
    for begin in range(0, n, 100_000):
        part = slice(begin, min(begin + 100_000, n))
        rng.standard_normal(out=X[part], dtype=np.float32)
        noise = rng.standard_normal((part.stop - begin, n_classes), dtype=np.float32)
        y[part] = np.argmax(X[part] @ W + np.float32(0.3) * noise, axis=1)
    return X, y


class Attribute(NamedTuple):
    """A column of an ARFF file; ``values`` is None for numbers."""

    name: str
    values: list[str] | None


def _first_word(text: str) -> tuple[str, str]:
    """A name, perhaps in quotes, and what comes after it."""
    text = text.strip()
    if text[0] in "'\"":
        end = re.search(r"(?<!\\)" + text[0], text[1:]).start() + 1
        return text[1:end].replace("\\", ""), text[end + 1 :].strip()
    name, _, rest = text.replace("\t", " ").partition(" ")
    return name, rest.strip()


def _fields(line: str) -> list[str]:
    quote = "'" if "'" in line else '"'
    return [
        field.strip() for field in next(csv.reader([line], quotechar=quote, escapechar="\\", skipinitialspace=True))
    ]


def _attribute(line: str) -> Attribute:
    name, kind = _first_word(line[len("@attribute") :])
    if kind.startswith("{"):
        return Attribute(name, _fields(kind[1 : kind.rindex("}")].strip()))
    return Attribute(name, None)


def _number(attribute: Attribute, codes: dict[str, int] | None, field: str) -> float:
    if field == "?":
        return np.nan
    if codes is None:
        return float(field)
    if field not in codes:
        raise ValueError(f"{field!r} is not a value of the attribute {attribute.name!r}")
    return codes[field]


def read_arff(path: Path) -> tuple[list[Attribute], np.ndarray]:
    """Attributes and rows; nominal values as their positions, ``?`` as NaN, dense or sparse rows."""
    attributes: list[Attribute] = []
    rows: list[np.ndarray] = []
    codes: list[dict[str, int] | None] = []
    in_data = False
    with open_text(path) as lines:
        for line in map(str.strip, lines):
            if not line or line.startswith("%"):
                continue
            if not in_data:
                if line.lower().startswith("@attribute"):
                    attributes.append(_attribute(line))
                elif line.lower().startswith("@data"):
                    in_data = True
                    codes = [None if a.values is None else {v: i for i, v in enumerate(a.values)} for a in attributes]
                continue
            if line.startswith("{"):
                row = np.zeros(len(attributes))
                for item in _fields(line.strip("{} \t")):
                    if item:
                        number, field = item.split(None, 1)
                        j = int(number)
                        row[j] = _number(attributes[j], codes[j], field.strip("'\""))
            else:
                fields = _fields(line)
                if len(fields) != len(attributes):
                    raise ValueError(f"{path.name}: {len(fields)} fields where {len(attributes)} are declared: {line}")
                row = np.array([_number(a, c, f) for a, c, f in zip(attributes, codes, fields, strict=True)])
            rows.append(row)
    return attributes, np.array(rows)


def arff(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A classification set in ARFF whose last attribute is the class: X with nominal values as codes, y."""
    attributes, rows = read_arff(file_of("arff", "classification", f"{name}.arff"))
    if attributes[-1].values is None:
        raise ValueError(f"the last attribute of {name}, {attributes[-1].name!r}, has no classes")
    rows = rows[np.isfinite(rows[:, -1])]
    return rows[:, :-1], np.unique(rows[:, -1], return_inverse=True)[1]


def plants(seed: int = 0) -> Split:
    """One hundred species of plants by the texture of their leaves, 500 of 1599 for test."""
    attributes, rows = read_arff(file_of("multiclass", "one-hundred-plants-texture.arff"))
    assert attributes[-1].values is not None
    return divide(rows[:, :-1], rows[:, -1].astype(int), len(rows) - 500, seed)


def pairs(split: Split, n_train: int, n_test: int, seed: int = 0) -> Split:
    """Two random samples side by side; each pair of classes is a class."""
    rng, n_classes = np.random.default_rng(seed), int(split.y.max()) + 1

    def some(X: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = rng.integers(0, len(y), (2, n))
        return np.hstack([X[a], X[b]]), y[a] * n_classes + y[b]

    return Split(*some(split.X, split.y, n_train), *some(split.X_test, split.y_test, n_test))


def frame_of(attributes: list[Attribute], rows: np.ndarray) -> pd.DataFrame:
    """A data frame of ARFF rows: nominal attributes as categories, all declared ones, and ``?`` as missing."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for (name, values), column in zip(attributes, rows.T, strict=True):
        codes = np.where(np.isnan(column), -1, column)
        columns[name] = column if values is None else pd.Categorical.from_codes(codes.astype(int), values)
    return pd.DataFrame(columns)


def arff_frame(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A classification set in ARFF whose last attribute is the class: X with categories, y."""
    attributes, rows = read_arff(file_of("arff", "classification", f"{name}.arff"))
    if attributes[-1].values is None:
        raise ValueError(f"the last attribute of {name}, {attributes[-1].name!r}, has no classes")
    rows = rows[np.isfinite(rows[:, -1])]
    return frame_of(attributes[:-1], rows[:, :-1]), np.unique(rows[:, -1], return_inverse=True)[1]


def _categorical(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of text become categories."""
    import pandas as pd

    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(texts, "category"))


def mushroom() -> tuple[pd.DataFrame, np.ndarray]:
    """Edible or poisonous: 22 nominal columns, one of them with missing values."""
    import pandas as pd

    options = {"header": None, "na_values": "?", "keep_default_na": False}
    rows = pd.read_csv(file_of("mushroom", "agaricus-lepiota.data"), **options)
    X = _categorical(rows.iloc[:, 1:]).rename(columns=lambda j: f"column {j}")
    return X, (rows[0] == "p").to_numpy().astype(int)


ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip


def adult() -> Split:
    """Census income with the split it comes with: 6 numeric and 8 nominal columns, ``?`` missing."""
    import pandas as pd

    options = {"header": None, "names": ADULT, "skipinitialspace": True, "na_values": "?", "keep_default_na": False}
    train = pd.read_csv(file_of("adult", "adult.data"), **options)
    test = pd.read_csv(file_of("adult", "adult.test"), skiprows=1, **options)
    both = _categorical(pd.concat([train, test], ignore_index=True))  # the same categories in both parts
    X, y = both.drop(columns="income"), both["income"].str.startswith(">").to_numpy().astype(int)
    n = len(train)
    return Split(X[:n], y[:n], X[n:], y[n:])


def ratings(n_rows: int, n_users: int, n_items: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Generated (user, item) -> one of five ratings, about equally frequent.

    The score of a rating is a bias of the user, one of the item, the product of three hidden traits of each, and noise.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    user, item = rng.integers(0, n_users, n_rows), rng.integers(0, n_items, n_rows)
    taste, trait = rng.normal(size=(n_users, 3)), rng.normal(size=(n_items, 3))
    bias = rng.normal(size=n_users)[user] + rng.normal(size=n_items)[item]
    score = bias + (taste[user] * trait[item]).sum(axis=1) + 0.5 * rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes, [f"{name} {k}" for k in range(n)])
            for name, codes, n in (("user", user, n_users), ("item", item, n_items))
        }
    )
    return X, np.digitize(score, np.quantile(score, (0.2, 0.4, 0.6, 0.8)))


def mulan(name: str) -> Split:
    """A multi-label set with the split it comes with; y is an indicator matrix."""
    labels = [
        node.attrib["name"]
        for node in ElementTree.parse(file_of("mulan", name, f"{name}.xml")).iter()
        if node.tag.endswith("}label") or node.tag == "label"
    ]
    parts = []
    for part in ("train", "test"):
        attributes, rows = read_arff(file_of("mulan", name, f"{name}-{part}.arff"))
        where = {attribute.name: j for j, attribute in enumerate(attributes)}
        columns = [where[label] for label in labels]
        values = [attributes[j].values or ["0", "1"] for j in columns]
        Y = np.stack([np.array(v)[rows[:, j].astype(int)] == "1" for j, v in zip(columns, values, strict=True)], axis=1)
        parts += [np.delete(rows, columns, axis=1), Y.astype(int)]
    return Split(*parts)
