"""csv and tsv: text fields between commas or tabs, by way of pyarrow.

A column is of whole numbers (int64) or of numbers (float64) where every field is one or is missing; any
other column is text.  Quotes make no difference to that.  An empty field is missing in every column; the
words of `NUMBER_MISSING` are missing among numbers and text among text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .content import Content
from .error import shorten
from .reader import Reader, need_pyarrow
from .source import Source

NUMBER_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
TYPES = ("number", "text")
# A row must fit into one block of the parser.
_BLOCK = 1 << 22
_HEAD = 1 << 16  # bytes that are looked at to find the delimiter
_LARGEST_BLOCK = (1 << 31) - 1
_NUMBER = re.compile(r"[ \t]*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf(inity)?|nan)[ \t]*", re.IGNORECASE | re.ASCII)


class DelimitedReader(Reader):
    """A csv or tsv file.

    Parameters
    ----------
    source : Source
    header : bool
        Whether the first line names the columns; without it they are f0, f1, ...
    delimiter : str or None
        One character; None: tab for tsv; for csv a semicolon where the first line has some and no comma, else a comma.
    types : dict or None
        "number" or "text" for columns that should not be guessed.
    missing : sequence of str
        More words that mean a missing value, in every column.
    text : sequence of str
        Columns that are text; unlike `types`, which the file need not have.
    """

    def __init__(
        self,
        source: Source,
        header=True,
        delimiter=None,
        types=None,
        missing: Sequence[str] = (),
        text: Sequence[str] = (),
    ):
        super().__init__(source)
        self.pa = need_pyarrow(f"{source.format} files")
        self.header = header
        self._is_open = delimiter is None and source.format == "csv"
        self.delimiter = delimiter or ("\t" if source.format == "tsv" else ",")
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii():
            raise self.error(f"delimiter must be one character, not {self.delimiter!r}")
        self.types = dict(types or {})
        self.text = tuple(text)
        self.missing = (missing,) if isinstance(missing, str) else tuple(missing)
        for name, kind in self.types.items():
            if kind not in TYPES:
                raise self.error(f"the type of column {name!r} must be one of {', '.join(TYPES)}, not {kind!r}")

    def whole(self) -> Content:
        """All rows; types are found from all of them."""
        # Dates and times are text here, but pyarrow finds them: those columns are read again.
        self._begin()
        forced = self._forced()
        while True:
            table = self._guarded(lambda block: self._read(block, forced))
            self.check_names(table.column_names, 1 if self.header else None)
            wrong = {f.name: self.pa.string() for f in table.schema if not self._is_settled(f.type)}
            if not wrong:
                break
            forced.update(wrong)
        if not table.num_rows:
            raise self.empty()
        return self._content(table)

    def pieces(self) -> Iterator[Content]:
        """Pieces of rows; a first pass over the file finds the types, unless all are given."""
        self._begin()
        block, settled = self._guarded(self._survey)
        with self.source.open() as stream:
            try:
                for batch in self._open(stream, block, settled):
                    if batch.num_rows:
                        yield self._content(self.pa.Table.from_batches([batch]))
                self._check_quotes(stream)
            except (self.pa.ArrowException, UnicodeDecodeError) as error:
                raise self._diagnosis(error) from error

    def _begin(self) -> None:
        """Make the file ready to be read more than once, and look which delimiter it has."""
        self.source.keep()
        if self._is_open:
            with self.source.open() as stream:
                head = re.split(rb"[\r\n]", stream.read(_HEAD).removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0]
            unquoted = re.sub(rb'"[^"]*"', b"", head)
            self.delimiter = ";" if b";" in unquoted and b"," not in unquoted else ","

    def _forced(self) -> dict[str, Any]:
        wanted = {**dict.fromkeys(self.text, "text"), **self.types}
        return {n: self.pa.string() if kind == "text" else self.pa.float64() for n, kind in wanted.items()}

    def _is_settled(self, kind) -> bool:
        types = self.pa.types
        return types.is_int64(kind) or types.is_float64(kind) or types.is_string(kind) or types.is_null(kind)

    def _options(self, block: int, column_types: dict[str, Any]) -> dict[str, Any]:
        from pyarrow import csv as arrow_csv

        return {
            "read_options": arrow_csv.ReadOptions(block_size=block, autogenerate_column_names=not self.header),
            "parse_options": arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            "convert_options": arrow_csv.ConvertOptions(
                null_values=[*NUMBER_MISSING, *self.missing],
                true_values=[],
                false_values=[],
                strings_can_be_null=False,
                column_types=column_types,
            ),
        }

    def _open(self, stream, block: int, column_types: dict[str, Any]):
        from pyarrow import csv as arrow_csv

        return arrow_csv.open_csv(self.pa.PythonFile(stream.lend(), "r"), **self._options(block, column_types))

    def _guarded(self, read: Callable[[int], Any]) -> Any:
        """Call ``read`` with a block size, a larger one where a row does not fit; explain what pyarrow refuses."""
        block = _BLOCK
        while True:
            try:
                return read(block)
            except (self.pa.ArrowException, UnicodeDecodeError) as error:
                if "straddling" in str(error) and block < _LARGEST_BLOCK:
                    block = min(block * 16, _LARGEST_BLOCK)
                    continue
                raise self._diagnosis(error) from error

    def _read(self, block: int, column_types: dict[str, Any]):
        from pyarrow import csv as arrow_csv

        with self.source.open() as stream:
            table = arrow_csv.read_csv(self.pa.PythonFile(stream.lend(), "r"), **self._options(block, column_types))
            self._check_quotes(stream)
        self._check_types(table)
        return table

    def _check_quotes(self, stream) -> None:
        # pyarrow lets a quoted field end with the file, and so swallows every row after a stray quote.
        if stream.quotes % 2:
            self._scan(lambda line, fields, n_columns: None)

    def _check_types(self, table) -> None:
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            if self.pa.types.is_binary(kind):
                for _ in self.source.blocks():  # finds the line that is not UTF-8
                    pass
                raise self.error(f"column {name!r} is not UTF-8; save the file as UTF-8")
        unknown = [name for name in self.types if name not in table.column_names]
        if unknown:
            raise self.error(f"there is no column {unknown[0]!r} to give a type")

    def _survey(self, block: int) -> tuple[int, dict[str, Any]]:
        """The block size and the type of every column, from a pass over the whole file."""
        with self.source.open() as stream:
            first = self._open(stream, block, {}).schema
        self.check_names(first.names, 1 if self.header else None)
        forced = {n: kind for n, kind in self._forced().items() if n in first.names or n in self.types}
        if set(first.names) == set(forced):
            return block, forced
        # Mostly types are what the first block says.  To see whether they are costs less than to look at all as text.
        likely = {f.name: f.type if self._is_settled(f.type) else self.pa.string() for f in first}
        likely = {name: kind for name, kind in likely.items() if not self.pa.types.is_null(kind)}
        try:
            return block, self._seen_through(block, first.names, {**likely, **forced})
        except (self.pa.ArrowInvalid, UnicodeDecodeError):
            return block, self._seen_through(block, first.names, forced)

    def _seen_through(self, block: int, names: list[str], known: dict[str, Any]) -> dict[str, Any]:
        """The types of all columns, where those of some are known; an error where these are others."""
        pa = self.pa
        guesses = {at: _Guess(self.missing) for at, name in enumerate(names) if name not in known}
        n_rows = 0
        schema = pa.schema([(name, pa.string()) for name in names])
        with self.source.open() as stream:
            # No name for the reader: the stream is given back where it goes, also after an error.
            for batch in self._open(stream, block, {**dict.fromkeys(names, pa.string()), **known}):
                n_rows, schema = n_rows + batch.num_rows, batch.schema
                for at, guess in guesses.items():
                    guess.see(batch.column(at))
            self._check_quotes(stream)
            self._check_types(pa.Table.from_batches([], schema))
        if not n_rows:
            raise self.empty()
        return {**known, **{names[at]: guess.type() for at, guess in guesses.items()}}

    def _content(self, table) -> Content:
        names = table.column_names
        table = self.pa.Table.from_arrays([self._settled(column) for column in table.itercolumns()], names=names)
        return Content(self.source.name, self.source.format, names, table=table)

    def _settled(self, column):
        """A column with what is missing as null; numbers where there is nothing in it."""
        import pyarrow.compute as pc

        pa = self.pa
        if pa.types.is_null(column.type):
            return column.cast(pa.float64())
        if not pa.types.is_string(column.type):
            return column
        absent = pc.is_in(column, pa.array(["", *self.missing], pa.string()))
        return pc.if_else(absent, pa.scalar(None, pa.string()), column) if pc.any(absent).as_py() else column

    def _diagnosis(self, error: Exception):
        """What pyarrow complains of, with the line."""
        text = str(error)
        if "Empty CSV" in text:
            return self.error("the file is empty")
        found: list = []

        def look(line, fields, n_columns):
            if len(fields) != n_columns:
                found.append((f"{len(fields)} fields where {n_columns} columns are expected", line))
            for name, field in zip(self._names, fields, strict=False):
                markers = (*NUMBER_MISSING, *self.missing)
                if self.types.get(name) == "number" and field not in markers and not _NUMBER.fullmatch(field):
                    found.append((f"column {name!r} should hold numbers but here is {shorten(field)}", line))
            return bool(found)

        self._scan(look)
        if found:
            return self.error(*found[0])
        return self.error(re.sub(r"^CSV parse error: |^In CSV column #\d+: ", "", text)[:300])

    def _scan(self, look: Callable[[int, list[str], int], Any]) -> None:
        """Go through the rows slowly: ``look(line, fields, n_columns)`` stops where it is true."""
        lines: list[str] = []

        def text() -> Iterator[str]:
            for _, block in self.source.blocks():
                for line in block.split(b"\n")[:-1]:
                    lines.append(line.decode() + "\n")
                    yield lines[-1]

        reader = csv.reader(text(), delimiter=self.delimiter)
        n_columns = 0
        first = 1
        self._names: list[str] = []
        try:
            for fields in reader:
                if fields and not n_columns:
                    n_columns = len(fields)
                    self._names = fields if self.header else [f"f{j}" for j in range(n_columns)]
                elif fields and look(first, fields, n_columns):
                    return
                last = (first, list(lines))
                first = reader.line_num + 1
                lines.clear()
        except csv.Error:
            return  # a field too long for the csv module: nothing is found, which is no error in itself
        if n_columns:
            try:
                for _ in csv.reader(last[1], delimiter=self.delimiter, strict=True):
                    pass
            except csv.Error as error:
                if "unexpected end" in str(error):
                    raise self.error("a quoted field begins here and never ends", last[0]) from error


class _Guess:
    """The type of one column, seen block by block."""

    def __init__(self, missing: Sequence[str]):
        import pyarrow as pa

        self.pa = pa
        self.markers = pa.array([*NUMBER_MISSING, *missing], pa.string())
        self.possible = [pa.int64(), pa.float64()]
        self.seen = False

    def see(self, column) -> None:
        import pyarrow.compute as pc

        if not self.possible:
            return
        known = column.filter(pc.invert(pc.is_in(column, self.markers)))
        self.seen = self.seen or len(known) > 0
        for kind in list(self.possible):
            try:
                pc.utf8_trim(known, " \t").cast(kind)
            except self.pa.ArrowInvalid:
                self.possible.remove(kind)

    def type(self):
        if not self.seen:
            return self.pa.float64()
        return self.possible[0] if self.possible else self.pa.string()
