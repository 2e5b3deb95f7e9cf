"""All formats by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from .c import PRECISIONS, to_c
from .c_text import identifier
from .conifer_dict import write_conifer
from .exportable import ExportError
from .onnx_graph import write_onnx
from .python_file import write_python


def _write_c(model, path, *, name=None, precision=PRECISIONS[0], probabilities=False, fixed=None) -> list[Path]:
    own = identifier(Path(path).stem) if name is None else name
    source = to_c(model, own, precision=precision, probabilities=probabilities, fixed=fixed)
    return list(source.write(path))


FORMATS: dict[str, Callable] = {
    "c": _write_c,
    "onnx": write_onnx,
    "conifer": write_conifer,
    "python": write_python,
}


def options_of(to: str) -> list[str]:
    """Names of the options that a format has."""
    if to not in FORMATS:
        raise ExportError(f"to {to!r}: there are {', '.join(FORMATS)}")
    return [p.name for p in inspect.signature(FORMATS[to]).parameters.values() if p.kind is p.KEYWORD_ONLY]


def export_model(model, path, to: str, **options) -> list[Path]:
    """Write a model for another place.

    Parameters
    ----------
    model : fitted estimator or Model
    path : str or path
        Of the file to write; a header of C is beside it.
    to : {"c", "onnx", "conifer", "python"}
    **options
        c: ``name`` (else that of the file), ``precision``, ``probabilities``, ``fixed`` (see `to_c`);
        onnx: ``precision``, ``categories`` (`to_onnx`).

    Returns
    -------
    list of path
        The files that were written.

    Raises
    ------
    ExportError
        Where the model has something that the format cannot say, or the format has no such option.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import MultiBoostClassifier, export_model
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MultiBoostClassifier("stump", n_estimators=20).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in export_model(clf, f"{folder}/iris.c", to="c")]
    ['iris.h', 'iris.c']
    """
    known = options_of(to)
    strange = [name for name in options if name not in known]
    if strange:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise ExportError(f"the format {to!r} has no option {strange[0]!r}; {has}")
    return FORMATS[to](model, path, **options) or [Path(path)]
