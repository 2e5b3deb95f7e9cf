"""``multiboost train`` of a folder, a pattern, or a file that is larger than memory."""

from __future__ import annotations

import glob
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..files import Content, read_batches
from ..large.dataset import Dataset
from .examples import Examples, Roles, aligned, check_numbers, examples_of, known, load, reading, text_columns
from .failure import BadInput
from .task import Task

# Options that go with a table in memory, and what to do instead.
_NOT_HERE = {
    "valid_fraction": "give a file to --valid",
    "query": "rankings are trained in memory",
    "labels": "ARFF files are read into memory",
    "delimiter": "write Parquet files, or csv files with commas",
}


def is_in_files(data: str, options: dict[str, Any]) -> bool:
    """Whether DATA is to be read in passes: a folder, a pattern, or any file where memory is limited."""
    path = Path(data)
    is_pattern = glob.has_magic(data) and not path.exists()
    return bool(options["memory"] or options["workspace"] or path.is_dir() or is_pattern)


@dataclass
class InFiles:
    """A training set in files.

    Attributes
    ----------
    dataset : Dataset
    head : Examples
        Its first rows: names and types of the columns.
    """

    dataset: Dataset
    head: Examples

    @classmethod
    def of(cls, data: str, options: dict[str, Any], roles: Roles, task: Task) -> InFiles:
        """What DATA and the options name, checked.

        Parameters
        ----------
        data : str
        options : dict
        roles : Roles
        task : Task
        """
        if data == "-":
            raise BadInput("--memory and --workspace read the data twice, and standard input comes once; name a file")
        for name, remedy in _NOT_HERE.items():
            if options[name]:
                raise BadInput(f"--{name.replace('_', '-')} does not go with data in files of any size: {remedy}")
        if options["report"] and not (options["valid"] or options["test"]):
            raise BadInput("--report is about rows in memory: give --test FILE or --valid FILE")
        if not roles.target:
            raise BadInput(f"{data}: which column is {task.wanted}? Name it with --target")
        dataset = Dataset(data, options["format"])
        first = next(iter(read_batches(str(dataset.files[0]), dataset.format)))
        for option, names in {
            "--target": roles.target,
            "--ignore": roles.ignore,
            "--nominal": options["nominal"],
        }.items():
            known(first.names, names or [], dataset.name, option)
        return cls(dataset, examples_of(_without_gaps(first, roles), roles))

    def arguments(self, options: dict[str, Any], roles: Roles) -> dict[str, Any]:
        """What ``fit`` is given."""
        return {
            "X": self.dataset.where, "target": roles.target if len(roles.target) > 1 else roles.target[0],
            "sample_weight": roles.weight, "ignore": roles.ignore, "memory": options["memory"],
            "workspace": options["workspace"], "format": options["format"],
        }  # fmt: skip

    def provenance(self, roles: Roles) -> dict[str, Any]:
        """What the model remembers of its data."""
        rows = {} if self.dataset.n_rows is None else {"rows": self.dataset.n_rows}
        return {
            "file": Path(self.dataset.name).name, "files": len(self.dataset.files), **rows, **self.head.layout,
            "target": roles.target, "weight": roles.weight, "ignore": roles.ignore,
        }  # fmt: skip

    def like(self, path: str | None, roles: Roles, options: dict[str, Any]) -> Examples | None:
        """Another file, in memory, with the same columns."""
        if not path:
            return None
        text = text_columns(self.head)
        hints = reading(path, options["format"], self.head.layout, text, False)
        other = aligned(load(path, roles, format=options["format"], **hints), self.head.names, 0, self.dataset.name)
        check_numbers(other, {*text, *(options["nominal"] or [])})
        return other


def _without_gaps(content: Content, roles: Roles) -> Content:
    """The first rows whose targets are known: they say what columns there are, not what is wrong with rows."""
    if len(roles.target) > 1 or content.table is None:
        return content
    return replace(content, table=content.table.filter(content.table.column(roles.target[0]).is_valid()))
