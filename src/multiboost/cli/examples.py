"""From the content of a file to X, y and weights; columns are matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from ..data.kinds import unknown_labels
from ..files import Content, read_file
from ..files.content import NumberedNames
from ..files.error import shorten
from ..files.source import format_of
from ..memory import need
from ..model.model import Model
from .ambiguous import is_ambiguous
from .failure import BadInput
from .numbers import numbers_of, queries_of
from .task import Task, task_for

_NAME = 150  # bytes of a column's name


@dataclass
class Roles:
    """What the columns of a file are for.

    Attributes
    ----------
    target : list of str
    weight : str or None
    ignore : list of str
    task : str
        What the target holds, see `task`.
    query : str or None
        The column of queries.
    signed : bool
        Whether weights may be negative.
    """

    target: list[str] = field(default_factory=list)
    weight: str | None = None
    ignore: list[str] = field(default_factory=list)
    task: str = "classification"
    query: str | None = None
    signed: bool = False

    def __post_init__(self):
        seen: dict[str, str] = {}
        weight, query = ([name] if name else [] for name in (self.weight, self.query))
        given = {"--target": self.target, "--weight": weight, "--query": query, "--ignore": self.ignore}
        for option, names in given.items():
            for name in names:
                if name in seen and not seen[name] == option == "--ignore":
                    twice = "is given twice" if seen[name] == option else f"is {seen[name]} already"
                    raise BadInput(f"{option} {name!r}: the column {twice}")
                seen[name] = option


@dataclass
class Examples:
    """What ``fit`` and ``predict`` take.

    Attributes
    ----------
    file : str
    X : pyarrow.Table, ndarray or sparse matrix
    names : sequence of str
        Of the columns of X.
    y : ndarray, pyarrow.Table or None
    sample_weight : ndarray (n,) or None
    label_weight : ndarray (n, K) or None
    qid : ndarray (n,) or None
        The query of every row.
    target : list of str
        Names of the target's columns or labels; empty where the format carries one class per row.
    format : str
    is_named : bool
        Whether the file names its columns; svmlight and simple text number them.
    layout : dict
        Number and first name of all columns of the file, X or not.
    """

    file: str
    X: Any
    names: Sequence[str]
    y: Any
    sample_weight: np.ndarray | None
    label_weight: np.ndarray | None
    qid: np.ndarray | None
    target: list[str]
    format: str
    is_named: bool
    layout: dict[str, Any]

    @property
    def n_rows(self) -> int:
        return self.X.num_rows if hasattr(self.X, "num_rows") else self.X.shape[0]

    @property
    def is_table(self) -> bool:
        """Whether X is a pyarrow table rather than a matrix."""
        return hasattr(self.X, "num_rows")

    def take(self, rows: np.ndarray) -> Examples:
        """Some of the rows."""

        def part(a):
            if a is None:
                return None
            return a.take(rows) if hasattr(a, "num_rows") else a[rows]

        return replace(
            self, X=part(self.X), y=part(self.y), sample_weight=part(self.sample_weight),
            label_weight=part(self.label_weight), qid=part(self.qid),
        )  # fmt: skip


def one_stdin(**paths: str | None) -> None:
    """Refuse to read standard input twice.

    Parameters
    ----------
    **paths : str or None
        By option; ``data`` is the argument.
    """
    given = [name for name, path in paths.items() if path == "-"]
    if len(given) > 1:
        raise BadInput(f"standard input can be read once, but DATA and --{given[1]} are both -")


def load(
    path: str,
    roles: Roles,
    *,
    format: str | None = None,
    labels: Path | None = None,
    delimiter: str | None = None,
    **options,
) -> Examples:
    """Read a file and sort its columns into X, y and weights.

    Parameters
    ----------
    path : str
    roles : Roles
    format, labels, delimiter : see `read`
    """
    return examples_of(read(path, format, labels, delimiter, **options), roles)


def read(path: str, format: str | None, labels: Path | None, delimiter: str | None = None, **options) -> Content:
    """The content of a file.

    Parameters
    ----------
    path : str
    format : str or None
    labels : path or None
        The xml file of a mulan ARFF.
    delimiter : str or None
        Of csv and tsv files.
    """
    return read_file(path, format, **with_options(path, format, labels, delimiter, options))


def with_options(
    path: str, format: str | None, labels: Path | None, delimiter: str | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Options of a reader, with mulan's xml file and the delimiter among them."""
    found = dict(options)
    if labels is not None:
        if format_of(path, format) != "arff":
            raise BadInput(
                f"--labels {labels} goes with ARFF files, and {path} is none; name label columns with --target"
            )
        found["labels"] = labels
    if delimiter is not None:
        if format_of(path, format) not in ("csv", "tsv"):
            raise BadInput(f"--delimiter {delimiter!r} goes with csv and tsv files, and {path} is none; leave it out")
        found["delimiter"] = "\t" if delimiter in ("\\t", "tab") else delimiter
    return found


def known(names: Sequence[str], wanted: Sequence[str], file: str, option: str) -> None:
    """Refuse the name of a column that is not there.

    Parameters
    ----------
    names : sequence of str
        Columns of the file.
    wanted : sequence of str
    file, option : str
        Of the message.
    """
    absent = [name for name in wanted if name not in names]
    if absent:
        close = _close(absent, names)
        hint = f"; did you mean {listed(close)}?" if close else f"; it has {listed(names)}"
        raise BadInput(f"{file} has no {_columns(absent)} ({option}){hint}")


def _columns(absent: Sequence[str]) -> str:
    return f"{'column' if len(absent) == 1 else 'columns'} {listed(absent)}"


def _close(absent: Sequence[str], names: Sequence[str]) -> list[str]:
    """What the user may have meant by columns that are not there."""
    return [match for name in absent[:12] for match in get_close_matches(name, names[:10_000], 1)]


def listed(names: Sequence[str]) -> str:
    """Some names for a message."""
    if not len(names):
        return "none"
    first = ", ".join(map(repr, names[:12]))
    return first if len(names) <= 12 else f"{first} and {len(names) - 12} more"


def examples_of(content: Content, roles: Roles) -> Examples:
    """Sort the columns of a file into X, y and weights."""
    names, file = content.names, content.file
    known(names, roles.target, file, "--target")
    known(names, roles.ignore, file, "--ignore")
    known(names, [roles.weight] if roles.weight else [], file, "--weight")
    known(names, [roles.query] if roles.query else [], file, "--query")
    aside = {*roles.target, *roles.ignore, *(name for name in (roles.weight, roles.query) if name)}
    if content.table is None:
        features, X, columns = names, content.matrix, {}
        if aside:
            need(_NAME * len(names), f"{len(names)} columns of {file}", "number them without gaps")
            features = list(names)
            kept = [j for j, name in enumerate(features) if name not in aside]
            columns = {name: _matrix_column(content, features.index(name)) for name in aside - set(roles.ignore)}
            features, X = [features[j] for j in kept], X[:, kept]
    else:
        features = [name for name in names if name not in aside]
        X = content.table.select(features)
        columns = {name: content.table.column(name) for name in aside}
    y, label_weight, target = _TARGETS[roles.task](content, roles.target, columns)
    weight = None
    if roles.weight:
        weight = _weights(columns[roles.weight], roles.weight, file, roles.signed)
    first = names[0] if content.format == "svmlight" and len(names) else None
    return Examples(
        file, X, features, y, weight, label_weight, queries_of(content, roles.query, columns), target, content.format,
        is_named=not isinstance(names, NumberedNames), layout={"first_column": first, "columns": len(names)},
    )  # fmt: skip


def _matrix_column(content: Content, j: int):
    """A column of a matrix; NaN or None where it is missing."""
    column = content.matrix[:, [j]]
    values = np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()
    declared = content.declared.get(content.names[j])
    if not declared:
        return values
    missing = np.isnan(values)
    found = np.array(declared, dtype=object)[np.where(missing, 0, values).astype(int)]
    found[missing] = None
    return found


def _weights(column, name: str, file: str, signed: bool) -> np.ndarray:
    try:
        weights = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{file}: column {name!r} (--weight) does not hold numbers") from error
    wrong = ~(np.isfinite(weights) & (signed | (weights >= 0)))
    if wrong.any():
        row = int(wrong.argmax())
        raise BadInput(
            f"{file}: column {name!r} (--weight) holds {weights[row]:g} in row {row + 1}; a weight is a number"
            + ("" if signed else " of at least 0; for classes, train --negative-weights and evaluate know others")
        )
    return weights


def _classes(column, name: str, file: str) -> np.ndarray:
    """One class per row: text or numbers."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        is_plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not (is_plain or pa.types.is_boolean(column.type)):
            column = column.cast(pa.string())
        values = column.to_numpy()
    else:
        values = np.asarray(column)
    missing = unknown_labels(values)
    if missing.any():
        row = int(missing.argmax())
        raise BadInput(f"{file}: the target {name!r} is missing in row {row + 1}; every row needs its class")
    return _whole(values, f"the target {name!r}", file)


def _whole(values: np.ndarray, what: str, file: str) -> np.ndarray:
    """Classes that are numbers as whole numbers."""
    if values.dtype.kind != "f":
        return values
    if not np.all((np.abs(values) < 2**53) & (values == np.floor(values))):
        raise BadInput(
            f"{file}: {what} holds real numbers; classes are names or whole numbers. To predict numbers give "
            "--task regression"
        )
    return values.astype(np.int64)


def _labels(content: Content, target: list[str], columns: dict):
    """y, weights of labels, and the names of the target's columns."""
    if len(target) == 1:
        return _classes(columns[target[0]], target[0], content.file), None, target
    if target:
        import pyarrow as pa

        y = pa.table({name: columns[name] for name in target})
        for name in target:
            if pa.types.is_floating(y.column(name).type):
                _whole(y.column(name).drop_null().to_numpy(), f"the target {name!r}", content.file)
        return y, None, target
    labels = content.labels
    if labels is None:
        return None, None, []
    if labels.classes is not None:
        return _whole(np.asarray(labels.classes), "the class", content.file), None, []
    import pyarrow as pa

    signs = np.asarray(labels.signs)
    weights = np.abs(signs).astype(float) if labels.weights is None else labels.weights
    values = np.where(signs == 0, np.nan, (signs > 0).astype(float))
    y = pa.table({name: values[:, k] for k, name in enumerate(labels.names)})
    plain = np.all(weights[signs != 0] == 1)
    return y, None if plain else np.where(signs == 0, 0.0, weights), list(labels.names)


_TARGETS = {"classification": _labels, "regression": numbers_of, "ranking": numbers_of}


def check_queries(examples: Examples, task: Task) -> None:
    """Refuse a ranking without queries.

    Parameters
    ----------
    examples : Examples
    task : Task
    """
    if task.has_queries and examples.qid is None:
        raise BadInput(f"{examples.file}: which column is the query? Name it with --query")


def asked(examples: Examples, task: Task) -> dict[str, Any]:
    """What evaluations and reports are given besides X, y and weights.

    Parameters
    ----------
    examples : Examples
    task : Task
    """
    return {"qid": examples.qid} if task.has_queries else {}


def nominal_of(examples: Examples, nominal: list[str] | None) -> list[str] | list[int] | None:
    """``--nominal`` as the estimator takes it: names, or positions where columns have none.

    Parameters
    ----------
    examples : Examples
        The training file.
    nominal : list of str or None
    """
    if not nominal:
        return None
    known(examples.names, nominal, examples.file, "--nominal")
    if examples.is_table:
        return nominal
    if hasattr(examples.X, "tocsr"):
        raise BadInput(
            f"--nominal {nominal[0]!r}: the rows of {examples.file} are sparse, and sparse columns are numbers"
        )
    return [examples.names.index(name) for name in nominal]


def aligned(examples: Examples, names: Sequence[str] | None, n_columns: int, owner: str) -> Examples:
    """The same examples with other columns: those of a model or of a training file, in their order.

    Parameters
    ----------
    examples : Examples
    names : sequence of str or None
        None where columns are numbered.
    n_columns : int
    owner : str
        Whose columns they are, for messages: "the model", or a file.
    """
    if names is None:
        return _same_width(examples, n_columns, owner)
    here = examples.names if isinstance(examples.names, NumberedNames) else set(examples.names)
    absent = [name for name in names if name not in here]
    if absent:
        close = _close(absent, examples.names)
        hint = f"; is it {listed(close)} there?" if close else f"; it has {listed(examples.names)}"
        raise BadInput(f"{examples.file} has no {_columns(absent)}, which {owner} has{hint}")
    wanted = set(names)
    extra = [name for name in examples.names if name not in wanted]
    if extra:
        options = " ".join(f"--ignore {name!r}" for name in extra[:12])
        what = f"a {_columns(extra)}" if len(extra) == 1 else _columns(extra)
        raise BadInput(f"{examples.file} has {what} that {owner} has not; leave out with {options}")
    if examples.is_table:
        return replace(examples, X=examples.X.select(list(names)), names=list(names))
    at = {name: j for j, name in enumerate(examples.names)}
    return replace(examples, X=examples.X[:, [at[name] for name in names]], names=list(names))


def _same_width(examples: Examples, wanted: int, owner: str) -> Examples:
    """Columns without names: a sparse file may end before the last column."""
    X, width = examples.X, len(examples.names)
    if examples.is_named:
        raise BadInput(f"{examples.file} has named columns, but those of {owner} are numbered")
    if width > wanted:
        raise BadInput(f"{examples.file} has {width} columns, {owner} {wanted}: {examples.names[wanted]!r} is unknown")
    if width < wanted:
        if not hasattr(X, "tocsr"):
            raise BadInput(f"{examples.file} has {width} columns, {owner} {wanted}")
        X = X.tocsr(copy=True)
        X.resize((X.shape[0], wanted))
    return replace(examples, X=X)


def check_numbers(examples: Examples, nominal: set[str]) -> None:
    """Refuse text in a column that held numbers in training.

    Parameters
    ----------
    examples : Examples
        With the columns of the training.
    nominal : set of str
        Columns that may hold anything.
    """
    if not examples.is_table:
        return
    for name, column in zip(examples.names, examples.X.itercolumns(), strict=True):
        if name not in nominal and _is_text(column):
            strange = next((v for v in column.to_pylist() if v is not None and not _is_number(v)), "")
            what = f"text such as {strange!r}" if strange else "text"
            raise BadInput(f"{examples.file}: column {name!r} holds {what}, but it held numbers in training")


def _is_text(column) -> bool:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return pa.types.is_string(kind) and column.null_count < len(column)


def _is_number(text) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def text_columns(examples: Examples) -> dict[str, list[str]]:
    """Names of the categories of every column of text.

    Parameters
    ----------
    examples : Examples
        The training file.
    """
    found: dict[str, list[str]] = {}
    if examples.is_table:
        columns = zip(examples.names, examples.X.itercolumns(), strict=True)
        found = {name: _distinct(column) for name, column in columns if _is_text(column)}
    if hasattr(examples.y, "num_rows"):
        found |= {
            name: _distinct(examples.y.column(name)) for name in examples.target if _is_text(examples.y.column(name))
        }
    elif examples.y is not None and examples.target and examples.y.dtype.kind == "O":
        found[examples.target[0]] = sorted(set(examples.y.tolist()))
    return found


def _distinct(column) -> list[str]:
    return [value for value in column.unique().to_pylist() if value is not None]


def reading(path: str, format: str | None, layout: dict, categories: dict[str, list[str]], multilabel: bool) -> dict:
    """Options that make a file be read as the training file was.

    Parameters
    ----------
    path : str
    format : str or None
    layout : dict
        `Examples.layout` of the training file.
    categories : dict of list of str
        Of columns of text, by name.
    multilabel : bool
        Whether rows may have several labels.
    """
    if Path(path).is_dir():
        return {}  # the reader will say so
    kind = format_of(path, format)
    if kind in ("csv", "tsv"):
        # Where a file happens to hold nothing but 007 it would hold the number 7.
        text = [name for name, values in categories.items() if any(map(is_ambiguous, values))]
        return {"text": text} if text else {}
    if kind == "svmlight":
        options: dict[str, Any] = {"multilabel": True} if multilabel else {}
        if layout.get("first_column") is not None:
            options |= {"zero_based": layout["first_column"] == "f0", "n_features": layout["columns"]}
        return options
    return {}


_TOLD: dict[str, Any] = {
    "file": str,
    "rows": int,
    "first_column": (str, type(None)),
    "columns": int,
    "target": list,
    "weight": (str, type(None)),
    "query": (str, type(None)),
    "ignore": list,
    "names": list,
}


def told_by(model: Model) -> dict[str, Any]:
    """What a model knows of its training file; a file that says nonsense is refused."""
    told = model.data or {}
    for name, kind in _TOLD.items():
        value = told.get(name)
        listed = value if isinstance(value, list) else []
        if name in told and not (isinstance(value, kind) and all(isinstance(v, str) for v in listed)):
            raise BadInput(f"the model says nonsense of its training file: {name} is {shorten(str(value))}")
    return told


def reading_for(model: Model, path: str, format: str | None) -> dict[str, Any]:
    """Options that make a file be read as the training file of a model was.

    Parameters
    ----------
    model : Model
    path : str
    format : str or None
    """
    told, kind = told_by(model), model.kind
    nominal = model.parameters.get("nominal_features")
    listed_as_nominal = set(map(str, nominal if isinstance(nominal, list) else []))
    categories = {
        str(name): list(values)
        for name, values in zip(_names_of(model) or [], model.columns.all_category_names(), strict=False)
        if values is not None and str(name) not in listed_as_nominal
    }
    for name, classes in zip(told.get("target", []), task_for(kind).named_classes(kind), strict=False):
        if classes.dtype.kind in "UO":
            categories[name] = [str(c) for c in classes]
    return reading(path, format, told, categories, not (kind.is_single or kind.tasks))


def _names_of(model: Model) -> list[str] | None:
    """Names of a model's columns; None where they are numbered."""
    names = model.columns.names
    return told_by(model).get("names") if names is None else [str(name) for name in names]


def for_model(examples: Examples, model: Model) -> Examples:
    """The same examples with the columns of a model, in its order.

    Parameters
    ----------
    examples : Examples
    model : Model
    """
    names = _names_of(model)
    examples = aligned(examples, names, model.columns.n, "the model")
    categories = model.columns.all_category_names()
    nominal = {name for name, values in zip(names or [], categories, strict=False) if values is not None}
    check_numbers(examples, nominal)
    return examples


def examples_for(
    model: Model,
    data: str,
    target,
    weight,
    ignore,
    format: str | None,
    labels: Path | None,
    query: str | None = None,
    delimiter: str | None = None,
    signed: bool = False,
) -> Examples:
    """Read a file with the columns and classes of a model.

    Parameters
    ----------
    model : Model
    data : str
    target, weight, ignore, query
        As given; where they are not, those of the training that the file has.
    format, labels, delimiter : see `read`
    signed : bool
        Whether weights of classes may be negative.
    """
    told = told_by(model)
    content = read(data, format, labels, delimiter, **reading_for(model, data, format))
    given = {*(target or []), *(name for name in (weight, query) if name), *(ignore or [])}

    def is_free(name: str | None) -> bool:
        return name is not None and name in content.names and name not in given

    if weight is None and is_free(told.get("weight")):
        weight = told["weight"]
    if query is None and is_free(told.get("query")):
        query = told["query"]
    target = target or told.get("target", [])
    aside = [told.get("weight"), told.get("query"), *told.get("ignore", [])]
    left_out = [name for name in aside if is_free(name) and name not in (weight, query) and name not in target]
    task = task_for(model.kind)
    roles = Roles(
        target, weight, [*(ignore or []), *left_out], task.name, query, signed and task.name == "classification"
    )
    examples = for_model(examples_of(content, roles), model)
    if examples.y is None:
        raise BadInput(f"{examples.file}: which column is {task.wanted}? Name it with --target")
    check_queries(examples, task)
    return replace(examples, y=task.matched(examples, model.kind, "the model"))
