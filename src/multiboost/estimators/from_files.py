"""``fit`` on files: what it is given, and how two passes over them become a training set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import base_learner_from
from ..data.binned import Binned
from ..data.target import Target
from ..kernels.dtypes import lanes
from ..large.answers import Answers, Numbers
from ..large.dataset import Dataset
from ..large.passes import Passes, Watch
from ..large.table import StreamedTable
from ..memory import available, bytes_of, resident, size
from ..model.model import Columns
from ..workspace import IN_MEMORY, InMemory, Workspace
from .validation import check_cuts, nominal_mask

if TYPE_CHECKING:
    from .booster import Booster

_OF_FILES = ("target", "ignore", "memory", "workspace", "format")  # arguments of fit that go with files
_LEAST = 150e6  # bytes that the passes need besides the program
_USUAL = 0.5  # of the memory that is free, where nobody says how much
_KEPT_ROWS = 320_000  # at most, whose values are kept for the comparison of settings
_KEPT_SHARE = 0.1  # of the memory that these may take
_ROW = 60  # bytes of a row in arrays that do not depend on the number of labels or columns


@dataclass
class Files:
    """A training set in files; it is closed when the fit is over.

    Attributes
    ----------
    where : str, path, list of these or pyarrow dataset
    target, ignore : list of str
    weight : str or None
    memory : float or None
        Bytes that the process may take.
    workspace : str, path or None
        Folder for arrays that do not fit.
    format : str or None
    """

    where: Any
    target: list[str]
    weight: str | None = None
    ignore: list[str] = field(default_factory=list)
    memory: float | None = None
    workspace: Any = None
    format: str | None = None


@dataclass
class Read:
    """What was read.

    Attributes
    ----------
    table : StreamedTable
    columns : Columns
    target : Target
    binned : Binned
    """

    table: StreamedTable
    columns: Columns
    target: Target
    binned: Binned


def files_of(X, y, sample_weight, other: Sequence, unknown: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """X as `Files` where it names some, the weights, and the arguments that are left.

    Parameters
    ----------
    X, y, sample_weight
        As ``fit`` has them.
    other : sequence
        Weights and scores of single rows, which cannot be given for files.
    unknown : dict
        Further arguments of ``fit``.
    """
    if not _names_files(X, "target" in unknown):
        given = [name for name in _OF_FILES if name in unknown]
        if given:
            raise TypeError(f"{given[0]}= goes with X as the path of a file or folder; got {type(X).__name__}")
        return X, sample_weight, unknown
    if y is not None or unknown.get("target") is None:
        raise ValueError("the target of files is a column of them: name it, target='...', and leave y out")
    if any(one is not None for one in other):
        raise ValueError("weights of pairs and init_scores are arrays in memory, and X is in files; leave them out")
    if not (sample_weight is None or isinstance(sample_weight, str)):
        raise ValueError("the weights of files are a column of them: sample_weight='...'")
    memory = unknown.get("memory")
    files = Files(
        X, _list_of(unknown["target"]), sample_weight, _list_of(unknown.get("ignore") or []),
        None if memory is None else bytes_of(memory), unknown.get("workspace"), unknown.get("format"),
    )  # fmt: skip
    return files, None, {name: value for name, value in unknown.items() if name not in _OF_FILES}


def _names_files(X, has_target: bool) -> bool:
    if isinstance(X, (str, os.PathLike)) or hasattr(X, "get_fragments"):
        return True
    return has_target and isinstance(X, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in X)


def _list_of(names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def read_files(booster: Booster, files: Files, watch: Watch) -> Read:
    """Two passes over the files.

    Parameters
    ----------
    booster : Booster
        Its parameters say how columns are binned and pairs are weighed.
    files : Files
    watch : Watch
    """
    dataset = Dataset(files.where, files.format)
    table = StreamedTable(dataset, _features(dataset, files))
    nominal = nominal_mask(booster.nominal_features, table)
    _check(booster, table, nominal)
    memory = _USUAL * available() + resident() if files.memory is None else files.memory
    if memory < resident() + _LEAST:
        raise ValueError(
            f"memory={size(memory)} is too little: {size(resident())} are in use already, and the passes over the "
            f"files need {size(_LEAST)} more"
        )
    disk = Workspace(files.workspace, memory)  # now: where nothing can be written, that is said before the first pass
    try:
        return _passed(booster, files, table, nominal, disk, memory, watch)
    except BaseException:
        disk.close()
        raise


def _passed(
    booster: Booster,
    files: Files,
    table: StreamedTable,
    nominal: np.ndarray,
    disk: Workspace,
    memory: float,
    watch: Watch,
) -> Read:
    """The passes."""
    answers = booster.answers_of(files.target)
    least = table.n_rows * (3.0 * table.n_columns + _ROW)  # the labels are not known yet
    if files.workspace is not None or least + resident() + _LEAST > memory:
        disk.check_room(least)
    passes = Passes(table, answers, files.weight, watch)
    binner = passes.survey(nominal, booster.max_bins, booster.min_category_rows, memory)
    kind = answers.kind() if isinstance(answers, Answers) else None
    n_labels = len(answers.names) if kind is None else kind.n_labels
    n_bytes = table.n_rows * (row_bytes(binner.columns, n_labels, len(answers.names)) + _more_bytes(booster, n_labels))
    workspace: InMemory = disk
    if files.workspace is None and n_bytes + resident() + _LEAST <= memory:
        workspace = IN_MEMORY
    else:
        disk.check_room(n_bytes)
        watch.tell(f"arrays of about {size(n_bytes)} are put into {disk.folder} until the end of the fit")
    kept = np.random.default_rng(0).permutation(table.n_rows)  # as whoever compares settings draws them
    kept = np.sort(kept[: int(min(_KEPT_ROWS, _KEPT_SHARE * memory / (8 * table.n_columns)))])
    shape = (table.n_rows, len(answers.names))
    if isinstance(answers, Answers) and kind is not None:
        found = workspace.zeros(shape, np.int32)
        binned, weight = passes.write(binner, kept, partial(answers.numbers, kind=kind), found, workspace)
    else:
        assert isinstance(answers, Numbers)
        found = workspace.zeros(shape, np.float64)
        binned, weight = passes.write(binner, kept, answers.values, found, workspace)
    target = booster.target_of(kind, found, weight, files.target, workspace)
    if weight is None:
        target.row_weight = None
    names = np.asarray(table.names, dtype=object)
    return Read(table, Columns(table.n_columns, names, table.categories), target, binned)


def row_bytes(columns: Sequence, n_labels: int, n_questions: int) -> float:
    """About how many bytes the arrays of a fit take for a row, on the disk or in memory.

    Parameters
    ----------
    columns : sequence of ColumnBins or NominalBins
    n_labels, n_questions : int
    """
    bins = sum(1 if of.n_bins < 256 else 2 for of in columns)
    return bins + 2 * len(columns) + 4 * 8 * n_labels + 12 * lanes(n_labels) + 12 * n_questions + _ROW


def _more_bytes(booster: Booster, n_labels: int) -> float:
    """About how many more bytes samplers and products take for a row: G and H once more, and the payloads of both."""
    rows, labels = (getattr(booster, f"{name}_sampler", None) not in (None, "all") for name in ("row", "label"))
    copies, payloads = rows + labels, rows + labels + ("product" in repr(booster.base_learner).lower())
    return copies * 2 * 8 * n_labels + payloads * 2 * 4 * lanes(n_labels)


def _features(dataset: Dataset, files: Files) -> list[str]:
    """The columns that are neither target nor weight."""
    roles = {"target": files.target, "sample_weight": [files.weight] if files.weight else [], "ignore": files.ignore}
    for role, names in roles.items():
        for name in names:
            if name not in dataset.schema:
                listed = ", ".join(map(repr, dataset.names[:12])) + (" ..." if len(dataset.names) > 12 else "")
                raise ValueError(f"{dataset.name} has no column {name!r} ({role}); it has {listed}")
    aside = {name for names in roles.values() for name in names}
    found = [name for name in dataset.names if name not in aside]
    if not found:
        raise ValueError(f"{dataset.name} has no column left to learn from")
    return found


def _check(booster: Booster, table: StreamedTable, nominal: np.ndarray) -> None:
    """Refuse, before the passes, what needs the values of all rows in memory."""
    learner: Any = base_learner_from(booster.base_learner)
    while learner is not None:
        if learner.needs_values:
            raise ValueError(
                f"base_learner {learner.name!r} looks at the values of all rows, which are in files; use 'tree', "
                "'stump' or 'product', or load a part of the rows"
            )
        learner = getattr(learner, "base", None)
    if nominal.any():
        table.categories = [None if not one else _Some() for one in nominal]  # type: ignore[misc]
    check_cuts(base_learner_from(booster.base_learner), table)
    table.categories = None
    if getattr(booster, "weighting", "auto") in ("balanced", "given"):
        raise ValueError(
            f"weighting={booster.weighting!r} weighs all pairs in memory, and X is in files; use 'half', 'uniform' "
            "or class_weight='balanced'"
        )
    if isinstance(getattr(booster, "calibration_cv", None), int):
        raise ValueError(
            f"calibration_cv={booster.calibration_cv} makes runs on copies of the table, and X is in files; use None "
            "or 'validation'"
        )
    if getattr(booster, "init", None) is not None and hasattr(booster.init, "predict"):
        raise ValueError("init is a model that is asked for all rows in memory, and X is in files; leave it out")


class _Some:
    """Categories that are not known yet."""
