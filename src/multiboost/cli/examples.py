"""From the content of a file to X, y and weights; columns are matched by name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from ..data.categories import text_of
from ..files import Content, read_file
from .failure import BadInput


@dataclass
class Roles:
    """What the columns of a file are for.

    Attributes
    ----------
    target : list of str
    weight : str or None
    ignore : list of str
    """

    target: list[str] = field(default_factory=list)
    weight: str | None = None
    ignore: list[str] = field(default_factory=list)


@dataclass
class Examples:
    """What ``fit`` and ``predict`` take.

    Attributes
    ----------
    file : str
    X : pyarrow.Table, ndarray or sparse matrix
    names : list of str
        Of the columns of X.
    y : ndarray, pyarrow.Table or None
    sample_weight : ndarray (n,) or None
    label_weight : ndarray (n, K) or None
    target : list of str
        Names of the target's columns or labels; empty where the format carries one class per row.
    """

    file: str
    X: Any
    names: list[str]
    y: Any
    sample_weight: np.ndarray | None
    label_weight: np.ndarray | None
    target: list[str]
    format: str = ""

    @property
    def n_rows(self) -> int:
        return self.X.num_rows if hasattr(self.X, "num_rows") else self.X.shape[0]

    def take(self, rows: np.ndarray) -> Examples:
        """Some of the rows."""

        def part(a):
            if a is None:
                return None
            return a.take(rows) if hasattr(a, "num_rows") else a[rows]

        return Examples(
            self.file, part(self.X), self.names, part(self.y), part(self.sample_weight), part(self.label_weight),
            self.target, self.format,
        )  # fmt: skip


def load(path: str, roles: Roles, *, format: str | None = None, labels: Path | None = None, **options) -> Examples:
    """Read a file and sort its columns into X, y and weights.

    Parameters
    ----------
    path : str
    roles : Roles
    format, labels : see `read`
    """
    return examples_of(read(path, format, labels, **options), roles)


def read(path: str, format: str | None, labels: Path | None, **options) -> Content:
    """The content of a file.

    Parameters
    ----------
    path : str
    format : str or None
    labels : path or None
        The xml file of a mulan ARFF.
    """
    if labels is not None:
        options["labels"] = labels
    return read_file(path, format, **options)


def _known(names, wanted: list[str], file: str, option: str) -> None:
    for name in wanted:
        if name not in names:
            close = get_close_matches(name, list(names)[:10_000], 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; it has {_listed(names)}"
            raise BadInput(f"{file} has no column {name!r} ({option}){hint}")


def _listed(names) -> str:
    first = ", ".join(map(repr, names[:12]))
    return first if len(names) <= 12 else f"{first} and {len(names) - 12} more"


def examples_of(content: Content, roles: Roles) -> Examples:
    """Sort the columns of a file into X, y and weights."""
    names, file = content.names, content.file
    _known(names, roles.target, file, "--target")
    _known(names, roles.ignore, file, "--ignore")
    _known(names, [roles.weight] if roles.weight else [], file, "--weight")
    aside = {*roles.target, *roles.ignore, *([roles.weight] if roles.weight else [])}
    if content.table is None:
        if aside:
            kept = [j for j in range(len(names)) if names[j] not in aside]
            X = content.matrix[:, kept]
            columns = {name: _matrix_column(content, list(names).index(name)) for name in aside}
        else:
            kept, X, columns = list(range(len(names))), content.matrix, {}
        features = [names[j] for j in kept] if aside else list(names)
    else:
        features = [name for name in names if name not in aside]
        X = content.table.select(features)
        columns = {name: content.table.column(name) for name in aside}
    y, label_weight, target = _labels(content, roles.target, columns)
    weight = None
    if roles.weight:
        weight = _weights(columns[roles.weight], roles.weight, file)
    return Examples(file, X, features, y, weight, label_weight, target, content.format)


def _matrix_column(content: Content, j: int):
    column = content.matrix[:, [j]]
    values = np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()
    declared = content.declared.get(content.names[j])
    return np.array(declared, dtype=object)[values.astype(int)] if declared else values


def _weights(column, name: str, file: str) -> np.ndarray:
    try:
        return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{file}: column {name!r} (--weight) does not hold numbers") from error


def _classes(column, name: str, file: str) -> np.ndarray:
    """One class per row: text or numbers."""
    if not hasattr(column, "to_pylist"):
        values = np.asarray(column)
    else:
        if column.null_count:
            row = next(i for i, v in enumerate(column.to_pylist()) if v is None)
            raise BadInput(f"{file}: the target {name!r} is missing in row {row + 1}; every row needs its class")
        kind = str(column.type)
        values = np.array(column.to_pylist(), dtype=object) if _is_text(kind) else column.to_numpy()
    if values.dtype.kind == "f" and np.all(values == np.floor(values)):
        values = values.astype(np.int64)
    if values.dtype.kind == "f":
        raise BadInput(f"{file}: the target {name!r} holds real numbers; classes are names or whole numbers")
    return values


def _is_text(kind: str) -> bool:
    return kind.startswith(("string", "large_string", "dictionary"))


def _labels(content: Content, target: list[str], columns: dict):
    """y, weights of labels, and the names of the target's columns."""
    if len(target) == 1:
        return _classes(columns[target[0]], target[0], content.file), None, target
    if target:
        import pyarrow as pa

        return pa.table({name: columns[name] for name in target}), None, target
    labels = content.labels
    if labels is None:
        return None, None, []
    if labels.classes is not None:
        return np.asarray(labels.classes), None, []
    import pyarrow as pa

    signs = np.asarray(labels.signs)
    weights = np.abs(signs).astype(float) if labels.weights is None else labels.weights
    values = np.where(signs == 0, np.nan, (signs > 0).astype(float))
    y = pa.table({name: values[:, k] for k, name in enumerate(labels.names)})
    plain = np.all(weights[signs != 0] == 1)
    return y, None if plain else np.where(signs == 0, 0.0, weights), list(labels.names)


def for_model(examples: Examples, model, *, strict: bool = True) -> Examples:
    """The same examples with the columns of a model, in its order, and its classes.

    Parameters
    ----------
    examples : Examples
    model : AdaBoostMHClassifier
    strict : bool
        Whether columns that the model does not know are an error.
    """
    names = list(getattr(model, "feature_names_in_", []))
    if not names:
        return _same_width(examples, model)
    absent = [name for name in names if name not in set(examples.names)]
    if absent:
        close = get_close_matches(absent[0], examples.names, 1)
        hint = f"; is it {close[0]!r} there?" if close else f"; it has {_listed(examples.names)}"
        raise BadInput(f"{examples.file} has no column {absent[0]!r}, which the model needs{hint}")
    extra = [name for name in examples.names if name not in set(names)]
    if extra and strict:
        raise BadInput(
            f"{examples.file} has a column {extra[0]!r} that the model does not know; leave it out with --ignore "
            f"{extra[0]!r}"
        )
    X = examples.X
    if hasattr(X, "select"):
        X = X.select(names)
    else:
        X = X[:, [examples.names.index(name) for name in names]]
    return Examples(examples.file, X, names, examples.y, examples.sample_weight, examples.label_weight, examples.target)


def _same_width(examples: Examples, model) -> Examples:
    """Columns without names: a sparse file may end before the model's last column."""
    wanted, width = model.n_features_in_, len(examples.names)
    X = examples.X
    if hasattr(X, "num_rows"):
        raise BadInput(f"{examples.file} has named columns, but the model was trained on numbered ones")
    if width > wanted:
        raise BadInput(
            f"{examples.file} has {width} columns, the model {wanted}: {examples.names[wanted]!r} is unknown"
        )
    if width < wanted:
        if not hasattr(X, "tocsr"):
            raise BadInput(f"{examples.file} has {width} columns, the model needs {wanted}")
        X = X.tocsr(copy=True)
        X.resize((X.shape[0], wanted))
    return replace(examples, X=X)


def like_classes(y, model):
    """y with the model's own classes: 1 of a text file is the class "1" of another."""
    classes = model.classes_
    if y is None or hasattr(y, "num_rows") or isinstance(classes, list):
        return y
    y = np.asarray(y)
    if y.ndim != 1 or classes.dtype.kind == y.dtype.kind:
        return y
    by_name = {text_of(c): c for c in classes.tolist()}
    unknown = sorted({text_of(v) for v in y.tolist()} - by_name.keys())
    if unknown:
        raise BadInput(f"class {unknown[0]!r} is not one of the model's: {_listed(sorted(by_name))}")
    return np.array([by_name[text_of(v)] for v in y.tolist()], dtype=classes.dtype)


def examples_for(model, data: str, target, weight, ignore, format: str | None, labels: Path | None) -> Examples:
    """Read a file with the columns and classes of a model.

    Parameters
    ----------
    model : AdaBoostMHClassifier
    data : str
    target, weight, ignore
        As given; where they are not, those of the training.
    format, labels : see `read`
    """
    known = model.data_ or {}
    content = read(data, format, labels, **numbering(known, data, format))
    here = set(content.names) if content.table is not None else set()
    aside = [*known.get("ignore", []), *([known["weight"]] if known.get("weight") and not weight else [])]
    dropped = [*(ignore or []), *(name for name in aside if name in here and name not in (ignore or []))]
    roles = Roles(target or known.get("target", []), weight, dropped)
    examples = for_model(examples_of(content, roles), model)
    if examples.y is None:
        raise BadInput(f"{examples.file}: which column is the class? Name it with --target")
    examples.y = like_classes(examples.y, model)
    return examples


def numbering(known: dict, path: str, format: str | None) -> dict[str, Any]:
    """Options that make a svmlight file number its columns as the training file did."""
    from ..files.source import format_of

    if known.get("first_column") is None or format_of(path, format) != "svmlight":
        return {}
    return {"zero_based": known["first_column"] == "f0", "n_features": known["columns"]}
