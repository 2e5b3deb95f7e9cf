"""ROOT files, by way of uproot: flat trees, ``events.root:tree``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..extras import need
from .content import Content
from .error import FileError
from .expression import Expression
from .reader import Reader, need_pyarrow
from .source import Source

_ROWS = 1 << 16
_TREES = ("TTree", "TNtuple", "TNtupleD")


class RootReader(Reader):
    """A flat tree of a ROOT file: every branch has one number or one text for each event.

    Parameters
    ----------
    source : Source
        ``file.root:tree``; the tree may be left out where the file has only one.
    branches : str, list of str or None
        Names or patterns such as "jet_*"; None: all.
    where : str or None
        Which events are read, see `Expression`; it may use branches that are not read.
    """

    def __init__(self, source: Source, branches: str | Sequence[str] | None = None, where: str | None = None):
        super().__init__(source)
        self.pa, self.uproot = need_pyarrow("ROOT files"), need("uproot", "hep")
        self._branches = [branches] if isinstance(branches, str) else None if branches is None else list(branches)
        try:
            self._where = None if where is None else Expression(where)
        except ValueError as error:
            raise self.error(str(error)) from error

    def pieces(self) -> Iterator[Content]:
        """Events in blocks."""
        if self.source.once:
            raise self.error("a ROOT file is read at many places, which standard input and pipes cannot; name a file")
        try:
            with self.uproot.open(str(self.source.path)) as file:
                tree = self._tree(file)
                names = self._names(tree)
                more = [name for name in (self._where.columns if self._where else []) if name not in names]
                absent = [name for name in more if name not in tree.keys()]  # noqa: SIM118  not a dictionary
                if absent:
                    raise self.error(f"the selection needs a branch {absent[0]!r}, and the tree has none")
                self._check_flat(tree, [*names, *more])
                for block in tree.iterate([*names, *more], step_size=_ROWS, library="np"):
                    yield self._content(names, block)
        except (FileError, FileNotFoundError, PermissionError):
            raise
        # Damaged files make uproot raise nearly anything.
        except Exception as error:
            raise self.error(f"this is not a whole ROOT file: {str(error).strip()[:200]}") from error

    def _tree(self, file) -> Any:
        kinds = {name.partition(";")[0]: kind for name, kind in file.classnames().items()}
        trees = [name for name, kind in kinds.items() if kind in _TREES]
        wanted = self.source.inside
        if wanted in kinds and wanted not in trees:
            raise self.error(f"{wanted!r} is a {kinds[wanted]}, not a flat tree ({', '.join(_TREES)})")
        if wanted is None and len(trees) == 1:
            wanted = trees[0]
        if wanted not in trees:
            has = f"it has {', '.join(trees[:20])}" if trees else "it has none"
            what = "say which tree" if wanted is None else f"there is no tree {wanted!r}"
            raise self.error(f"{what}, as in file.root:tree; {has}")
        return file[wanted]

    def _names(self, tree) -> list[str]:
        if self._branches is None:
            return list(tree.keys(recursive=False))
        found: dict[str, None] = {}
        for pattern in self._branches:
            names = tree.keys(filter_name=pattern)
            if not names:
                raise self.error(f"no branch is called {pattern!r}; the tree has {', '.join(tree.keys()[:20])}")
            found.update(dict.fromkeys(names))
        return list(found)

    def _check_flat(self, tree, names: list[str]) -> None:
        for name in names:
            kind = tree[name].interpretation
            dtype = getattr(kind, "to_dtype", getattr(kind, "numpy_dtype", None))
            is_text = type(kind).__name__ == "AsStrings"
            if not is_text and (dtype is None or dtype.shape or dtype.kind not in "fiub"):
                raise self.error(
                    f"the branch {name!r} has not one number for each event ({tree[name].typename}); "
                    "name those to read with branches="
                )

    def _content(self, names: list[str], block: dict[str, Any]) -> Content:
        if self._where is not None:
            n = len(next(iter(block.values())))
            try:
                rows = self._where.chosen(block, n)
            except ValueError as error:
                raise self.error(str(error)) from error
            block = {name: block[name][rows] for name in names}
        table = self.pa.table({name: self.pa.array(block[name]) for name in names})
        return Content(self.source.name, self.source.format, names, table=table)
