"""Models to and from files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import __version__
from ..calibration import Calibration
from ..data import median as _median  # noqa: F401  registers
from ..data import real as _real  # noqa: F401  registers
from ..data.categories import Categories
from ..data.kind import KINDS
from ..data.kinds import LabelKind
from ..data.ranked import Ranks
from ..kernels.dtypes import NODE
from ..memory import need
from .before import Before
from .ensemble import CURVES, Ensemble, EnsembleBuilder
from .mixture import Mixture, Scorer
from .model import Columns, Model
from .modelfile import POLICY_SCHEMA, SCHEMA, ModelFileError, read_model, write_model
from .policy import Policy

# What comes of a header or of arrays that are not what they should be.
WRONG = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_MOST_COLUMNS = 1 << 26  # of a model; nothing larger could be trained
_COLUMN = 64  # bytes that a column without a name costs whoever looks into a model
_POLICY = ("cuts", "actions", "restart")
_BEFORE = "before."  # what names of the arrays of the model before begin with
_MIXTURE = ("models", "scorers", "tried")  # what headers of mixtures have


def save(model: Model, path, more_header: dict | None = None, more_arrays: dict | None = None) -> None:
    """Write a model.

    Parameters
    ----------
    model : Model
    path : str or path
    more_header, more_arrays : dict or None
        What a checkpoint has besides.
    """
    header, arrays = _written(model)
    write_model(path, {**header, **(more_header or {})}, {**arrays, **(more_arrays or {})}, more_arrays or ())


def _written(model: Model) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a model; those of the model before it are inside of them."""
    if model.ensemble.phi:
        raise ValueError(
            "a model of FromClassifier holds fitted scikit-learn objects, which have no place in a model file; "
            "keep it with a tool that stores Python objects"
        )
    if model.before is not None and model.before.model is None:
        raise ValueError(
            f"the model starts from a fitted {type(model.before.estimator).__name__}, which has no place in a model "
            "file; start from an estimator of multiboost, give its scores to fit as init_scores and add them at "
            "prediction, or keep the model with a tool that stores Python objects"
        )
    # Without seconds, and bytes on the disk: the same training gives the same file, byte for byte.
    history = sorted(name for name in model.history if not name.startswith(("seconds", "bytes")))
    header = {
        "version": __version__,
        "estimator": model.estimator,
        "parameters": model.parameters,
        "target": model.kind.name,
        "tasks": len(model.kind.classes),
        "plan": model.plan,
        "n_features": int(model.columns.n),
        "n_rows": model.n_rows,
        "slope": float(model.slope),
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "history": history,
        "state": sorted(model.state),
        "data": model.data,
        "stopped": model.stopped,
        **({} if model.policy is None else _policy_header(model.policy)),
    }
    arrays = {f"ensemble.{name}": array for name, array in model.ensemble.arrays().items()}
    for t, classes in enumerate(model.kind.classes):
        arrays[f"classes.{t}"] = _plain(classes, f"classes of task {t}")
    for name, array in model.kind.numbers().items():
        arrays[f"target.{name}"] = array
    for name in history:
        arrays[f"history.{name}"] = model.history[name]
    for name, array in model.state.items():
        arrays[f"state.{name}"] = array
    for name, array in ({} if model.calibration is None else model.calibration.arrays()).items():
        arrays[f"calibration.{name}"] = array
    if model.columns.names is not None:
        arrays["feature_names"] = model.columns.names.astype(str)
    for j, categories in enumerate(model.columns.categories or []):
        if categories is not None:
            arrays[f"categories.{j}"] = np.frombuffer(json.dumps(categories.names).encode(), np.uint8)
    if model.policy is not None:
        arrays |= {f"policy.{name}": array for name, array in model.policy.arrays().items()}
    if model.before is not None and model.before.model is not None:
        header["before"], inner = _written(model.before.model)
        if "schema" in header["before"]:
            header["schema"] = header["before"]["schema"]
        arrays |= {f"{_BEFORE}{name}": array for name, array in inner.items()}
    return header, arrays


def _policy_header(policy: Policy) -> dict[str, Any]:
    """What a header says of a policy; the schema is a later one, so that no reader leaves the policy out."""
    return {"schema": POLICY_SCHEMA, "policy": {"state": policy.state, "about": policy.about}}


def _plain(classes: np.ndarray, what: str) -> np.ndarray:
    """Classes without Python objects."""
    if classes.dtype.kind != "O":
        return classes
    if all(isinstance(c, str) for c in classes):
        return classes.astype(str)
    raise ValueError(f"{what} are Python objects ({type(classes[0]).__name__}); a model file holds numbers or text")


def save_mixture(mixture: Mixture, path) -> None:
    """Write a mixture: its models one after the other, and what reads them.

    Parameters
    ----------
    mixture : Mixture
    path : str or path
    """
    written = [_written(model) for model in mixture.models]
    header = {
        "schema": SCHEMA,
        "version": __version__,
        "estimator": mixture.estimator,
        "parameters": mixture.parameters,
        "c": float(mixture.c),
        "models": [of_model for of_model, _ in written],
        "scorers": [_scorer_header(scorer) for scorer in mixture.scorers],
        "tried": sorted(mixture.tried),
    }
    arrays = {f"models.{i}.{name}": a for i, (_, inner) in enumerate(written) for name, a in inner.items()}
    for j, scorer in enumerate(mixture.scorers):
        learned = {} if scorer.calibration is None else scorer.calibration.arrays()
        arrays |= {f"scorers.{j}.{name}": array for name, array in learned.items()}
    arrays |= {f"tried.{name}": array for name, array in sorted(mixture.tried.items())}
    write_model(path, header, arrays)


def _scorer_header(scorer: Scorer) -> dict[str, Any]:
    calibration = None if scorer.calibration is None else scorer.calibration.to_dict()
    numbers = {name: float(getattr(scorer, name)) for name in ("slope", "low", "high", "reached")}
    return {"model": scorer.model, "calibration": calibration, **numbers}


def load(path) -> Model:
    """Read a model.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ModelFileError
        Where the file is not a whole model of a schema that this version knows.
    """
    return load_with(path)[0]


def load_with(path, more: tuple[str, ...] = ()) -> tuple[Model, dict[str, Any], dict[str, np.ndarray]]:
    """A model, its header and its arrays.

    Parameters
    ----------
    path : str or path
    more : tuple of str
        Names of arrays that are wanted besides those of the model.
    """
    header, arrays = read_model(path, lambda header, name: name in more or _is_known(header, name))
    if "models" in header:
        raise ModelFileError(
            f"{path} is an ensemble of several models; load_model reads it, but what takes a single model does not"
        )
    return _checked(path, header, arrays), header, arrays


def load_any(path) -> Model | Mixture:
    """Read a model or a mixture.

    Parameters
    ----------
    path : str or path
    """
    header, arrays = read_model(path, _is_known)
    if "models" not in header:
        return _checked(path, header, arrays)
    try:
        models = [
            _checked(path, of_model, _inside(arrays, f"models.{i}.")) for i, of_model in _numbered(header["models"])
        ]
        found = Mixture(
            models,
            [
                _read_scorer(given, models, _inside(arrays, f"scorers.{j}."))
                for j, given in _numbered(header["scorers"])
            ],
            float(header["c"]),
            str(header["estimator"]),
            dict(header["parameters"]),
            {name: arrays[f"tried.{name}"] for name in header["tried"]},
        )
        if not (np.isfinite(found.weights()).all() and all(_go_together(models[0], model) for model in models)):
            raise ValueError("scorers")
    except ModelFileError:
        raise
    except WRONG as error:
        raise ModelFileError(f"{path} is not a whole ensemble of models: {error} is missing or wrong") from error
    return found


def _numbered(given) -> list[tuple[int, Any]]:
    if not (isinstance(given, list) and given):
        raise ValueError("models or scorers")
    return list(enumerate(given))


def _inside(arrays: dict[str, np.ndarray], begin: str) -> dict[str, np.ndarray]:
    """Arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(begin): array for name, array in arrays.items() if name.startswith(begin)}


def _go_together(one: Model, other: Model) -> bool:
    """Whether two models give answers of the same kind, of the same columns."""
    same = len(one.kind.classes) == len(other.kind.classes) and all(
        np.array_equal(a, b) for a, b in zip(one.kind.classes, other.kind.classes, strict=True)
    )
    return same and isinstance(one.kind, Ranks) == isinstance(other.kind, Ranks) and one.columns.n == other.columns.n


def _read_scorer(given: dict[str, Any], models: list[Model], arrays: dict[str, np.ndarray]) -> Scorer:
    number = given["model"]
    if type(number) is not int or not 0 <= number < len(models):
        raise ValueError(f"model {number!r} of a scorer")
    calibration = None if given["calibration"] is None else Calibration.of(given["calibration"], arrays)
    found = Scorer(number, calibration, *(float(given[name]) for name in ("slope", "low", "high", "reached")))
    kind = models[number].kind
    tried = found.values(kind, np.zeros((1, kind.n_labels)))
    if not np.isfinite(tried).all() or tried.shape != (1, 1 if isinstance(kind, Ranks) else kind.n_labels):
        raise ValueError("scorers")
    return found


def _checked(path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    """A model of a header and arrays, whose numbers fit together."""
    try:
        model = _read(_of_today(header), arrays)
    except MemoryError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except WRONG as error:
        raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
    part: Model | None = model
    while part is not None:
        try:
            sound = is_sound(part.ensemble, part.columns, part.kind.n_labels) and _is_whole(part)
            sound = sound and (part.policy is None or part.policy.is_sound(part.n_rounds, part.kind.n_labels))
            if part.before is not None:
                part.before.check(part.kind, part.columns)
        except WRONG:
            sound = False
        if not sound:
            raise ModelFileError(f"{path} is damaged: its arrays do not fit together")
        part = None if part.before is None else part.before.model
    return model


def _is_known(header: dict, name: str) -> bool:
    """Whether an array of a file is one of a model with this header."""
    group, _, rest = name.partition(".")
    if "models" in header:
        number, _, inner = rest.partition(".")
        models = header["models"]
        if group == "models" and isinstance(models, list) and number.isdecimal() and int(number) < len(models):
            return isinstance(models[int(number)], dict) and _is_known(models[int(number)], inner)
        return group in _MIXTURE[1:]
    if name.startswith(_BEFORE):
        before = header.get("before")
        return isinstance(before, dict) and _is_known(before, rest)
    listed = header.get(group)
    return (
        (group == "ensemble" and rest in Ensemble.__dataclass_fields__ and rest != "phi")
        or (group in ("history", "state") and isinstance(listed, list) and rest in listed)
        or (group in ("classes", "categories") and rest.isdecimal())
        or group == "target"
        or (group == "calibration" and isinstance(listed, dict))
        or (group == "policy" and isinstance(listed, dict) and rest in _POLICY)
        or name == "feature_names"
    )


def _is_whole(model: Model) -> bool:
    """Whether numbers are numbers, and the history has a value for every round."""
    e, n_rounds = model.ensemble, model.n_rounds
    lines = model.history
    return bool(
        all(np.isfinite(array).all() for array in (e.initial, e.values, e.size, e.gain))
        and not np.isnan(e.threshold[e.set_start < 0]).any()
        and (e.size >= 0).all()
        and np.isfinite(model.slope)
        and model.slope > 0
        and all(array.shape == (n_rounds,) and array.dtype.kind == "f" for array in lines.values())
        and n_rounds > 0
    )


def _read(header: dict, arrays: dict[str, np.ndarray]) -> Model:
    for name, most in (("n_features", _MOST_COLUMNS), ("tasks", len(arrays))):
        if type(header[name]) is not int or not 1 <= header[name] <= most:
            raise ValueError(f"{name} {header[name]!r}")
    need(_COLUMN * header["n_features"], f"{header['n_features']} columns", "load it on a larger machine")
    numbers = {name.removeprefix("target."): array for name, array in arrays.items() if name.startswith("target.")}
    kind = KINDS.get(header["target"]).of([arrays[f"classes.{t}"] for t in range(header["tasks"])], numbers)
    if any(classes.ndim != 1 for classes in kind.classes):
        raise ValueError(f"target {header['target']!r}")
    wanted = [name for name in Ensemble.__dataclass_fields__ if name != "phi"]
    if "ensemble.along" not in arrays:
        wanted = [name for name in wanted if name not in CURVES]
    flat: dict[str, Any] = {name: arrays[f"ensemble.{name}"] for name in wanted}
    before = None
    if "before" in header:
        inner = {name.removeprefix(_BEFORE): array for name, array in arrays.items() if name.startswith(_BEFORE)}
        before = Before(_read(header["before"], inner))
    n, names = header["n_features"], arrays.get("feature_names")
    if names is not None and names.shape != (n,):
        raise ValueError("feature_names")
    for name, kinds in (("data", (dict, type(None))), ("parameters", dict), ("plan", dict), ("estimator", str)):
        if not isinstance(header[name], kinds):
            raise ValueError(name)
    n_rows = header.get("n_rows")  # files of earlier versions do not say
    if not (n_rows is None or (type(n_rows) is int and n_rows >= 0)):
        raise ValueError(f"n_rows {n_rows!r}")
    return Model(
        ensemble=Ensemble(**flat),
        kind=kind,
        columns=Columns(n, None if names is None else names.astype(object), _read_categories(arrays, n)),
        slope=float(header["slope"]),
        calibration=_read_calibration(header, arrays, kind),
        plan=header["plan"],
        history={name: arrays[f"history.{name}"] for name in header["history"]},
        state={name: arrays[f"state.{name}"] for name in header["state"]},
        n_rows=n_rows,
        data=header["data"],
        estimator=header["estimator"],
        parameters=header["parameters"],
        stopped=str(header.get("stopped", "")),
        before=before,
        policy=_read_policy(header, arrays) if "policy" in header else None,
    )


def _read_policy(header: dict, arrays: dict[str, np.ndarray]) -> Policy:
    told = header["policy"]
    return Policy(
        told["state"],
        **{name: arrays[f"policy.{name}"] for name in _POLICY},
        about=told["about"],
    )


def _read_calibration(header: dict, arrays: dict[str, np.ndarray], kind) -> Calibration | None:
    """The calibration of a classifier; files from before there were any have the slope alone."""
    if not isinstance(kind, LabelKind):
        return None
    given = header.get("calibration", {"name": "margin", "parts": 1})
    if given is None:
        return None
    here = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith("calibration.")}
    found = Calibration.of(given, here)
    tried = kind.label_probabilities(found.probabilities(kind.by_question(np.zeros((1, kind.n_labels)))))
    if tried.shape != (1, kind.n_labels):
        raise ValueError("calibration")
    return found


def _read_categories(arrays: dict[str, np.ndarray], n_features: int) -> list[Categories | None] | None:
    given: dict[int, Categories] = {}
    for name, array in arrays.items():
        if name.startswith("categories."):
            names = json.loads(array.tobytes())
            if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
                raise ValueError(f"{name} is not a list of names")
            column = int(name.partition(".")[2])
            if not 0 <= column < n_features:
                raise ValueError(f"{name} is of no column")
            given[column] = Categories(names)
    return [given.get(j) for j in range(n_features)] if given else None


def _of_today(header: dict) -> dict:
    """A header of schema 1, which had no plan, as one of today."""
    if header.get("schema", 2) > 1:  # models inside of mixtures say nothing
        return header
    votes, loss, subsample = header["votes"], header["loss"], float(header.get("subsample", 1.0))
    real = "newton" if loss == "logistic" else "z"
    plan = {
        "loss": {"name": loss},
        "criterion": "edge" if votes == "discrete" else real,
        "step": {"name": "alpha" if votes == "discrete" else "rate", "learning_rate": float(header["learning_rate"])},
        "base_learner": _learner_of_text(header["base_learner"]),
        "rows": {"name": "all"} if subsample == 1.0 else {"name": "share", "share": subsample},
        "columns": {"name": "all"},
        "ridge": float(header["ridge"]),
        "max_bins": int(header["max_bins"]),
        "min_category_rows": int(header["min_category_rows"]),
        "seed": int(header["seed"]),
    }
    # What was called AdaBoostMHClassifier then has another name now.
    return {**header, "plan": plan, "state": [], "estimator": "MultiBoostClassifier"}


def _learner_of_text(text: str) -> dict[str, Any]:
    """A base learner as schema 1 wrote it, such as ``"tree:8/product:2"``."""
    head, _, rest = text.partition("/")
    name, _, size = head.partition(":")
    found: dict[str, Any] = {"name": name}
    sizes = {"tree": "n_leaves", "product": "n_terms", "indicator": "n_starts"}
    if size:
        found[sizes[name]] = int(size)
    if rest:
        found["base"] = _learner_of_text(rest)
    return found


def _curves_are_sound(ensemble: Ensemble, n_columns: int) -> bool:
    """Whether curves, if there are any, are of columns of the table, and all coefficients of their leaves are there."""
    if not ensemble.is_curved:
        return True
    along, degree, origin, root = ensemble.along, ensemble.degree, ensemble.origin, ensemble.root
    if not (along.dtype == degree.dtype == NODE and origin.dtype == np.float64):
        return False
    if not (along.shape == degree.shape == (len(root),) and origin.shape == (len(ensemble.values),)):
        return False
    if (along >= n_columns).any() or (degree < 0).any() or (degree > len(ensemble.values)).any():
        return False
    # A leaf is named by the first of its rows; which term it belongs to is known where each term has its own tests.
    starts = root[root >= 0]
    if starts.size and (starts[0] != 0 or (np.diff(starts) <= 0).any()):
        return False
    term = np.flatnonzero(root >= 0)[np.searchsorted(starts, np.arange(len(ensemble.feature)), side="right") - 1]
    end = np.append(starts[1:], len(ensemble.feature))[np.searchsorted(starts, root[term])]
    last_row = np.where(ensemble.child < 0, ~ensemble.child + degree[term, None], -1)
    return bool(
        (ensemble.child < end[:, None]).all()
        and (last_row < len(ensemble.values)).all()
        and (np.where(root < 0, ~root + degree, -1) < len(ensemble.values)).all()
    )


def is_sound(ensemble: Ensemble, columns: Columns, n_labels: int) -> bool:
    """Whether no array would lead a kernel out of bounds."""
    empty = EnsembleBuilder(np.zeros(n_labels), columns.n).build().arrays()
    if any(getattr(ensemble, k).dtype != a.dtype or getattr(ensemble, k).ndim != a.ndim for k, a in empty.items()):
        return False
    tests, leaves, terms = len(ensemble.feature), len(ensemble.values), len(ensemble.root)
    first = ensemble.first_term
    lengths = [len(getattr(ensemble, name)) for name in ("threshold", "missing_right", "gain", "set_start", "child")]
    if lengths != [tests] * 5 or ensemble.child.shape[1] != 2:
        return False
    if tests and not (ensemble.feature.min() >= 0 and ensemble.feature.max() < columns.n):
        return False
    if not _curves_are_sound(ensemble, columns.n):
        return False
    n_bytes = {j: (len(c) + 7) // 8 for j, c in enumerate(columns.categories or []) if c is not None}
    of_set = np.array([n_bytes.get(j, 0) for j in ensemble.feature.tolist()], np.intp)
    is_nominal = np.array([j in n_bytes for j in ensemble.feature.tolist()], bool)

    def within(numbers):
        return numbers.size == 0 or (numbers.max() < tests and (~numbers).max() < leaves)

    return bool(
        ensemble.values.shape[1] == n_labels == len(ensemble.initial)
        and (is_nominal | (ensemble.set_start < 0)).all()
        and (ensemble.set_start <= ensemble.sets.size - of_set).all()  # a sum may overflow
        and within(ensemble.child)
        and within(ensemble.root)
        and ((ensemble.child < 0) | (ensemble.child > np.arange(tests)[:, None])).all()
        and len(first) >= 1
        and first[0] == 0
        and first[-1] == terms
        and (np.diff(first) > 0).all()
        and len(ensemble.size) == len(first) - 1
    )
