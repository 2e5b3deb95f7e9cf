"""``multiboost import``."""

from __future__ import annotations

from pathlib import Path

from ..export.shyp import read_shyp
from ..model.storage import save
from .display import say_written
from .examples import Roles, examples_of, read
from .failure import BadInput, check_writable


def run(old: Path, out: Path, columns: str | None, target, format, delimiter, ignore, multilabel: bool) -> None:
    """Make a model file of an old model; the options are those of `app.import_`."""
    check_writable(out, "--out")
    if out.absolute() == old.absolute():
        raise BadInput(f"--out {out} would overwrite what is read")
    names = None
    if columns is None:
        given = {"--target": target, "--format": format, "--delimiter": delimiter, "--ignore": ignore}
        for option, value in given.items():
            if value:
                raise BadInput(f"{option} goes with --columns, the file that has these columns")
    else:
        content = read(columns, format, None, delimiter)
        names = list(examples_of(content, Roles(target or [], None, ignore or [])).names)
    model = read_shyp(old, columns=names, multilabel=multilabel)
    save(model, out)
    say_written(f"{out} written: {model.n_rounds} rounds, {model.columns.n} columns")
