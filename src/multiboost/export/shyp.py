"""Models of the C++ program MultiBoost: its strong hypothesis, a file ``*.shyp.xml``.

A weak hypothesis is a flat list of elements.  A stump votes +v where its column is above the threshold, else -v.  A
tree lists for each of its stumps the child where the stump says + (``leftChild``) and where it says - (``rightChild``);
-1 is a leaf, which votes as its stump does.  A product multiplies its stumps.  A constant always says +.  All votes are
times ``alpha`` of the whole; those of the stumps inside are of no account.

The file says nothing of the table: the model has the columns that it tests, unless it is told all of them.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ..base.classifier import BaseClassifier, Dag, empty_leaf
from ..base.registry import base_learner_from
from ..boosting.plan import Plan
from ..calibration import Calibration, Theory
from ..data.kinds import MultiClass, MultiLabel
from ..estimators.multiboost_classifier import MultiBoostClassifier
from ..estimators.saving import estimator_of, saved_parameters
from ..kernels.dtypes import NODE
from ..losses import LOSSES
from ..model.ensemble import EnsembleBuilder
from ..model.model import STEEPEST, Columns, Model
from ..model.modelfile import ModelFileError
from ..model.storage import is_sound
from ..steps import STEPS

_CHUNK = 1 << 20
_MOST_BYTES = 1 << 31  # of XML
_MOST_CLASSES = 1 << 16
_STUMP, _CONSTANT, _TREE, _PRODUCT = "SingleStumpLearner", "ConstantLearner", "TreeLearner", "ProductLearner"
_LEARNERS = {_STUMP: "stump", _CONSTANT: "stump", _TREE: "tree", _PRODUCT: "product"}


@dataclass
class _Stump:
    """One stump as the file has it; a constant has no column."""

    column: str | None
    threshold: float
    votes: dict[str, float]
    default: float


@dataclass
class _Weak:
    """One weak hypothesis as the file has it."""

    learner: str
    alpha: float
    stumps: list[_Stump]
    above: list[int]  # of each stump of a tree, the child where it says +
    below: list[int]


def read_shyp(path, *, columns=None, multilabel: bool = False) -> Model:
    """Read a model of the C++ program.

    Parameters
    ----------
    path : str or path
        XML, or XML compressed by gzip.
    columns : list of str or None
        All columns of the table, in their order; None: those that the model tests, f2 before f10.
    multilabel : bool, default=False
        Whether classes are labels that stand alone; the file does not say.

    Returns
    -------
    Model
        Its scores are those of the C++ program, also for two classes, of which each has a score.  Probabilities have
        the slope of theory: nothing was measured.  `load_shyp` makes a classifier of it.

    Raises
    ------
    ModelFileError
        Where the file is not whole, not such a file, declares entities, or has a learner that is not known here.
    """
    path = Path(path)
    reader = _Reader(path)
    weak = list(reader.hypotheses())
    if not weak:
        raise ModelFileError(f"{path} has no weak hypothesis")
    classes = _classes(path, weak)
    names = _columns(path, weak, columns)
    model = _model(path, weak, classes, names, multilabel)
    if not is_sound(model.ensemble, model.columns, model.kind.n_labels):
        raise ModelFileError(f"{path} is damaged: its parts do not fit together")
    return model


def load_shyp(path, *, columns=None, multilabel: bool = False) -> MultiBoostClassifier:
    """A model of the C++ program as a fitted classifier; ``save`` makes a model file of it.

    Parameters
    ----------
    path : str or path
        XML, or XML compressed by gzip.
    columns : list of str or None
        All columns of the table, in their order; None: those that the model tests, f2 before f10.
    multilabel : bool, default=False
        Whether classes are labels that stand alone; the file does not say.

    Returns
    -------
    MultiBoostClassifier

    Raises
    ------
    ModelFileError
        Where the file is not whole, not such a file, declares entities, or has a learner that is not known here.
    """
    return estimator_of(read_shyp(path, columns=columns, multilabel=multilabel), path)


class _Reader:
    """The weak hypotheses of a file, one after the other; nothing but elements, attributes and text is let in.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: Path):
        self.path = path
        self._open: list[str] = []
        self._text = ""
        self._items: list[tuple[str, Any]] = []  # of the weak hypothesis at hand
        self._votes: dict[str, Any] | None = None
        self._done: list[_Weak] = []
        self._is_first = True

    def hypotheses(self) -> Iterator[_Weak]:
        """All of them, in their order."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        # Entities need a document type: without one there is nothing to expand and nothing to fetch.
        parser.StartDoctypeDeclHandler = self._refuse
        n_bytes = 0
        try:
            with self.path.open("rb") as raw:
                packed = raw.read(2) == b"\x1f\x8b"
                raw.seek(0)
                file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
                while chunk := file.read(_CHUNK):
                    n_bytes += len(chunk)
                    if n_bytes > _MOST_BYTES:
                        raise ModelFileError(f"{self.path} has more than {_MOST_BYTES} bytes of XML")
                    parser.Parse(chunk, False)
                    yield from self._taken()
                parser.Parse(b"", True)
                yield from self._taken()
        except expat.ExpatError as error:
            raise ModelFileError(f"{self.path} is not XML, or was cut short: {error}") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ModelFileError(f"{self.path} was cut short or altered: {error}") from error

    def _taken(self) -> list[_Weak]:
        found, self._done = self._done, []
        return found

    def _refuse(self, *declared) -> None:
        raise ModelFileError(f"{self.path} declares a document type; a model has none, and its entities are not read")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._is_first and tag != "multiboost":
            raise ModelFileError(f"{self.path} is not a model of the C++ program: it begins with <{tag[:40]}>")
        self._is_first = False
        self._open.append(tag)
        self._text = ""
        if tag == "weakhyp":
            self._items = []
        elif tag == "vArray":
            self._votes = {"size": attributes.get("size", ""), "default": 0.0, "votes": {}}
        elif tag == "class":
            self._class = attributes.get("id")

    def _characters(self, text: str) -> None:
        self._text += text

    def _end(self, tag: str) -> None:
        self._open.pop()
        text = self._text.strip()
        self._text = ""
        if tag == "weakhyp":
            self._done.append(_weak(self.path, self._items))
        elif tag == "vArray":
            self._items.append((tag, self._votes))
            self._votes = None
        elif tag == "class" and self._votes is not None:
            if self._class is None or self._class in self._votes["votes"]:
                raise ModelFileError(f"{self.path}: a class without a name, or twice in one list of votes")
            self._votes["votes"][self._class] = _number(self.path, tag, text)
        elif tag == "default" and self._votes is not None:
            self._votes["default"] = _number(self.path, tag, text)
        elif "weakhyp" in self._open:
            self._items.append((tag, text))


def _number(path: Path, tag: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = np.nan
    if not np.isfinite(found):
        raise ModelFileError(f"{path}: <{tag}> is {text[:40]!r}, not a finite number")
    return found


def _count(path: Path, tag: str, text: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", text):
        raise ModelFileError(f"{path}: <{tag}> is {text[:40]!r}, not a whole number")
    return int(text)


def _weak(path: Path, items: list[tuple[str, Any]]) -> _Weak:
    """A weak hypothesis from its elements."""
    at = iter(items)

    def next_of(tag: str) -> Any:
        found, value = next(at, ("the end", ""))
        if found != tag:
            raise ModelFileError(f"{path}: there is <{found[:40]}> where <{tag}> should be")
        return value

    learner = next_of("weakLearner")
    if learner not in _LEARNERS:
        raise ModelFileError(
            f"{path} has the learner {learner[:60]!r}, which is not known here; known are {', '.join(_LEARNERS)}"
        )
    alpha = _number(path, "alpha", next_of("alpha"))
    above: list[int] = []
    below: list[int] = []
    n_stumps = 1
    if learner in (_TREE, _PRODUCT):
        n_stumps = _count(path, "numBaseLearners", next_of("numBaseLearners"))
        if not 1 <= n_stumps <= len(items):
            raise ModelFileError(f"{path}: <numBaseLearners> is {n_stumps}, and there are not so many")
    if learner == _TREE:
        for _ in range(n_stumps):
            above.append(_count(path, "leftChild", next_of("leftChild")))
            below.append(_count(path, "rightChild", next_of("rightChild")))
    stumps, inner = [], learner
    for _ in range(n_stumps):
        if learner in (_TREE, _PRODUCT):
            inner = next_of("weakLearner")
            if inner not in (_STUMP, _CONSTANT):
                raise ModelFileError(f"{path} has the learner {inner[:60]!r} inside {learner}; only stumps are known")
            next_of("alpha")
        votes = next_of("vArray")
        column, threshold = (None, "0") if inner == _CONSTANT else (next_of("column"), next_of("threshold"))
        stumps.append(_stump(path, votes, column, threshold))
    left = next(at, None)
    if left is not None:
        raise ModelFileError(f"{path}: <{left[0][:40]}> is one too many in a {learner}")
    return _Weak(learner, alpha, stumps, above, below)


def _stump(path: Path, votes: dict[str, Any], column: str | None, threshold: str) -> _Stump:
    size = _count(path, "vArray", votes["size"])
    if not 1 <= size <= _MOST_CLASSES or len(votes["votes"]) > size:
        raise ModelFileError(f"{path}: votes of {len(votes['votes'])} classes in a list of the size {size}")
    if column == "":
        raise ModelFileError(f"{path}: a stump without a column")
    return _Stump(column, _number(path, "threshold", threshold), votes["votes"], votes["default"])


def _classes(path: Path, weak: list[_Weak]) -> list[str]:
    """Names of the classes, in the order of the file."""
    found: dict[str, None] = {}
    for h in weak:
        for stump in h.stumps:
            found.update(dict.fromkeys(stump.votes))
    if len(found) < 2:
        raise ModelFileError(f"{path} has votes for {len(found)} classes; a classifier has at least two")
    return list(found)


def _natural(name: str) -> list:
    """f2 before f10."""
    parts = re.split(r"(\d{1,18})", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def _columns(path: Path, weak: list[_Weak], given) -> list[str]:
    tested = {stump.column for h in weak for stump in h.stumps if stump.column is not None}
    if given is None:
        return sorted(tested, key=_natural)
    names = [str(name) for name in given]
    absent = sorted(tested - set(names), key=_natural)
    if absent:
        raise ValueError(f"{path} tests the column {absent[0]!r}, which is not among the {len(names)} columns given")
    if len(set(names)) < len(names):
        raise ValueError("columns must be distinct")
    return names


def _model(path: Path, weak: list[_Weak], classes: list[str], names: list[str], multilabel: bool) -> Model:
    order = classes
    labels: np.ndarray = np.array(classes)
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in classes):
        labels = labels.astype(np.int64)
    if not multilabel:  # classes of our targets are sorted
        order = [classes[k] for k in np.argsort(labels)]
        labels = np.sort(labels)
    at = {name: j for j, name in enumerate(names)}
    builder = EnsembleBuilder(np.zeros(len(order)), len(names))
    for h in weak:
        builder.append(_base_classifier(path, h, order, at))
    kind = (MultiLabel if multilabel else MultiClass)([labels])
    alpha = np.array([h.alpha for h in weak])
    spec = _spec(weak)
    estimator = MultiBoostClassifier(spec, len(weak), votes="discrete", loss="exponential")
    plan = Plan(
        loss=LOSSES.get("exponential")(), criterion="edge", step=STEPS.get("alpha")(),
        base_learner=base_learner_from(spec), rounds=len(weak),
    )  # fmt: skip
    return Model(
        ensemble=builder.build(),
        kind=kind,
        columns=Columns(len(names), np.array(names, dtype=object)),
        slope=STEEPEST,
        calibration=Calibration(Theory()),
        plan=plan.to_dict(),
        # The edge of which alpha = 1/2 ln((1 + edge) / (1 - edge)), but for the program's smoothing.
        history={"alpha": alpha, "edge": np.tanh(alpha)},
        estimator="MultiBoostClassifier",
        parameters=saved_parameters(estimator),
    )


def _spec(weak: list[_Weak]) -> str:
    """The base learner as we call it, with the largest size that occurs."""
    name = _LEARNERS[weak[0].learner]
    most = max(len(h.stumps) for h in weak)
    return {"stump": "stump", "tree": f"tree:{most + 1}", "product": f"product:{max(2, most)}"}[name]


def _base_classifier(path: Path, h: _Weak, classes: list[str], at: dict[str, int]) -> BaseClassifier:
    if h.learner == _TREE:
        terms = [_tree(path, h, classes, at)]
    else:
        terms = [_cut(stump, h.alpha if k == 0 else 1.0, classes, at) for k, stump in enumerate(h.stumps)]
    nothing = np.zeros((0, len(classes)))
    return BaseClassifier(terms, empty_leaf(len(terms), 0), 0, nothing, nothing, 0.0)


def _votes(stump: _Stump, classes: list[str]) -> np.ndarray:
    return np.array([stump.votes.get(name, stump.default) for name in classes])


def _dag(stumps: list[_Stump], child: list[list[int]], values: list[np.ndarray], at: dict[str, int]) -> Dag:
    m = len(stumps)
    return Dag(
        feature=np.array([at[str(stump.column)] for stump in stumps], NODE),
        threshold=np.array([stump.threshold for stump in stumps], np.float64),
        missing_right=np.zeros(m, bool),
        child=np.array(child, NODE).reshape(m, 2),
        gain=np.ones(m),  # nothing is known of it: importances count cuts
        values=np.array(values),
        set_start=np.full(m, -1, np.intp),
        sets=np.zeros(0, np.uint8),
    )


def _cut(stump: _Stump, alpha: float, classes: list[str], at: dict[str, int]) -> Dag:
    v = alpha * _votes(stump, classes)
    if stump.column is None:
        return _dag([], [], [v], at)
    return _dag([stump], [[~0, ~1]], [-v, v], at)


def _tree(path: Path, h: _Weak, classes: list[str], at: dict[str, int]) -> Dag:
    """Stumps from the root on, numbered anew so that a child comes after its parent."""
    n = len(h.stumps)
    seen: set[int] = set()

    def child_of(k: int, child: int, sign: float) -> int | np.ndarray:
        """The next stump, or votes; a constant is passed by on its + side."""
        while child >= 0:
            if child >= n or child in seen:
                raise ModelFileError(f"{path}: stump {k} of a tree has the child {child}, which cannot be")
            seen.add(child)
            if h.stumps[child].column is not None:
                return child
            k, child, sign = child, h.above[child], 1.0
        return sign * h.alpha * _votes(h.stumps[k], classes)

    root = child_of(0, 0, 1.0)
    if not isinstance(root, int):
        return _dag([], [], [root], at)
    order, todo, children = [], [root], {}
    while todo:
        k = todo.pop()
        order.append(k)
        children[k] = [child_of(k, h.below[k], -1.0), child_of(k, h.above[k], 1.0)]
        todo += [child for child in children[k] if isinstance(child, int)]
    place = {k: new for new, k in enumerate(order)}
    values: list[np.ndarray] = []
    pairs = []
    for k in order:
        pair = []
        for child in children[k]:
            if isinstance(child, int):
                pair.append(place[child])
            else:
                pair.append(~len(values))
                values.append(child)
        pairs.append(pair)
    return _dag([h.stumps[k] for k in order], pairs, values, at)
