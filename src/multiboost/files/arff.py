"""ARFF files: dense or sparse rows, and the multi-label forms of Mulan and MultiBoost.

Blocks of plain rows go through pyarrow's csv parser with the declared types.  A block that has anything
else in it (escapes, both kinds of quotes, braces, an error) is read row by row in Python, which gives the
same values and knows the line of an error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .arffheader import NUMBER, Attribute, Header, data_lines, split_braces, split_values, unquote
from .content import Content, Labels
from .error import shorten
from .mulan import find_xml, read_label_names
from .reader import Reader, need_pyarrow
from .source import Source

_DATA = re.compile(rb"^[ \t]*@data(?![^\s%])[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_COMMENT_LINES = re.compile(rb"^[ \t]*%[^\n]*\n", re.MULTILINE)
_BLANKS = re.compile(rb"[ \t]*([,\n])[ \t]*")
_BLANK_AT_EDGE = (b", ", b" ,", b",\t", b"\t,", b" \n", b"\t\n", b"\n ", b"\n\t")
_SIGN_OF_CATEGORY = {"0": -1, "1": 1, "-1": -1, "+1": 1, "false": -1, "true": 1}


class ArffReader(Reader):
    """An ARFF file.

    Parameters
    ----------
    source : Source
    labels : path, list of str, None or False
        Which attributes are labels: Mulan's xml file, or their names.  None looks for an xml file next to
        the ARFF file (`find_xml`) and then for MultiBoost's forms; False reads every attribute as a column.
    """

    def __init__(self, source: Source, labels=None):
        super().__init__(source)
        self.labels = labels
        self.attributes: list[Attribute]
        self.form: str | None = None
        self.label_at: list[int] = []
        self.label_names: list[str] = []

    def pieces(self) -> Iterator[Content]:
        """Blocks of rows."""
        sparse = None
        for first, block in self._data_blocks():
            if sparse is None:
                row = next(data_lines(block, first), None)
                if row is None:
                    continue
                sparse = row[1].startswith("{")
                self._recognise_rows(row[1], sparse)
            content = self._sparse(block, first) if sparse else self._dense(block, first)
            if content.n_rows:
                yield content

    def _data_blocks(self) -> Iterator[tuple[int, bytes]]:
        """Read the header, then the blocks of the data section."""
        header = Header(self.source.name)
        self.attributes = header.attributes
        found = None
        first = 0
        for first, block in self.source.blocks():
            if found:
                yield first, block
                continue
            found = _DATA.search(block)
            header.feed(block[: found.start()] if found else block, first)
            if found:
                if not self.attributes:
                    raise self.error("no @attribute before @data; each column needs one")
                self._find_labels()
                yield first + block.count(b"\n", 0, found.end()), block[found.end() :]
        if not first:
            raise self.error("the file is empty")
        if not found:
            raise self.error("no @data line: the file was cut short, or is not ARFF")

    # Labels: who they are

    def _find_labels(self) -> None:
        at = {a.name: j for j, a in enumerate(self.attributes)}
        names, where = self._named_labels()
        if names is not None:
            if not names or len(set(names)) < len(names):
                raise self.error(f"{where} must name each label once and at least one; labels=False means none")
            for name in names:
                if name not in at:
                    raise self.error(f"{where} names the label {name!r}, but there is no such attribute")
                attribute = self.attributes[at[name]]
                strange = [c for c in attribute.categories if c.lower() not in _SIGN_OF_CATEGORY]
                if attribute.kind == "text" or strange:
                    raise self.error(
                        f"the label {name!r} must be declared {{0, 1}} or numeric; labels=False reads it as a column",
                        attribute.line,
                    )
            self.form, self.label_names, self.label_at = "named", names, [at[name] for name in names]
        elif self.labels is not False:
            last = len(self.attributes)
            while last and self._is_signed_label(self.attributes[last - 1]):
                last -= 1
            if len(self.attributes) - last >= 2 and "class" not in map(str.lower, at):
                self.form = "signed"
                self.label_at = list(range(last, len(self.attributes)))
                self.label_names = [self.attributes[j].name[len("class") :] for j in self.label_at]
        if len(self.label_at) == len(self.attributes):
            raise self.error("every attribute is a label; there is no column left")

    def _named_labels(self) -> tuple[list[str] | None, str]:
        if self.labels is False:
            return None, ""
        if self.labels is None:
            xml = None if self.source.once else find_xml(self.source.path)
            return (None, "") if xml is None else (read_label_names(xml), str(xml))
        if isinstance(self.labels, str | Path):
            return read_label_names(self.labels), str(self.labels)
        return list(self.labels), "labels="

    @staticmethod
    def _is_signed_label(attribute: Attribute) -> bool:
        name = attribute.name.lower()
        return attribute.kind == "number" and name.startswith("class") and len(name) > len("class")

    def _recognise_rows(self, row: str, sparse: bool) -> None:
        """What the first row tells: sparse or not, and MultiBoost's ``{label weight, ...}``."""
        last = self.attributes[-1]
        if sparse:
            tail = split_braces(row)[1]
            for j, attribute in enumerate(self.attributes):
                if attribute.kind == "text" and j not in self.label_at:
                    raise self.error(
                        f"attribute {attribute.name!r} is text, which sparse rows cannot hold; leave it out",
                        attribute.line,
                    )
        else:
            tail = (split_values(row) or [""])[-1]
        if tail.startswith("{") and last.kind == "nominal" and self.form is None and self.labels is not False:
            if len(self.attributes) == 1:
                raise self.error("every attribute is a label; there is no column left", last.line)
            self.form = "extended"
            self.label_at = [len(self.attributes) - 1]
            self.label_names = list(last.categories)

    # Rows, one by one

    def _rows(self, block: bytes, first: int) -> Iterator[tuple[int, dict[int, str]]]:
        """Line and values by attribute; of a sparse row only those it gives."""
        n = len(self.attributes)
        for line, text in data_lines(block, first):
            if text.startswith("{"):
                yield line, self._sparse_row(text, line)
                continue
            values = split_values(text)
            if values is None:
                raise self.error(f"a quote or brace does not close where a value ends: {shorten(text)}", line)
            if len(values) != n:
                raise self.error(f"{len(values)} values where {n} attributes are declared", line)
            yield line, dict(enumerate(values))

    def _sparse_row(self, text: str, line: int) -> dict[int, str]:
        words, tail = split_braces(text)
        if words is None or len(words) % 2:
            raise self.error(f"a sparse row has the form {{number value, number value}}: {shorten(text)}", line)
        row: dict[int, str] = {}
        for number, value in zip(words[::2], words[1::2], strict=True):
            if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(self.attributes)):
                last = len(self.attributes) - 1
                raise self.error(f"{shorten(number)} is not an attribute's number; they go from 0 to {last}", line)
            if int(number) in row:
                raise self.error(f"attribute number {number} is there twice", line)
            row[int(number)] = value
        if tail:
            last = len(self.attributes) - 1
            if last in row:
                raise self.error(f"attribute number {last} is there twice, in and after the braces", line)
            row[last] = tail
        return row

    def _value(self, j: int, text: str, line: int) -> Any:
        """A float, a category's number or a text; None is missing."""
        attribute = self.attributes[j]
        if text == "?":
            return None
        if not text:
            raise self.error(f"attribute {attribute.name!r} has an empty value; write ? for a missing one", line)
        plain = unquote(text)
        if attribute.kind == "text":
            return plain
        if attribute.kind == "number":
            if not NUMBER.fullmatch(plain):
                raise self.error(f"attribute {attribute.name!r} is numeric but here is {shorten(plain)}", line)
            return float(plain)
        code = attribute.code.get(plain)
        if code is None:
            some = ", ".join(attribute.categories[:10]) + (", ..." if len(attribute.categories) > 10 else "")
            raise self.error(
                f"attribute {attribute.name!r} has the undeclared value {shorten(plain)}; declared are {some}", line
            )
        return code

    def _extended(self, text: str | None, line: int) -> np.ndarray:
        """Signed weights (K,) of ``{label weight, ...}``; a label that is not there is unknown."""
        signed = np.zeros(len(self.label_names))
        if text == "?":
            return signed
        words, tail = split_braces(text) if text else (None, "")
        if words is None or tail or len(words) % 2:
            raise self.error(
                f"labels have the form {{label weight, label weight}}, here is {shorten(text or 'nothing')}", line
            )
        code = self.attributes[-1].code
        seen = set()
        for label, weight in zip(words[::2], words[1::2], strict=True):
            name = unquote(label)
            if name not in code:
                raise self.error(f"the label {shorten(name)} is not declared", line)
            if name in seen:
                raise self.error(f"the label {shorten(name)} is there twice", line)
            if not NUMBER.fullmatch(weight) or not np.isfinite(float(weight)):
                raise self.error(f"the weight {shorten(weight)} of label {shorten(name)} is not a number", line)
            seen.add(name)
            signed[code[name]] = float(weight)
        return signed

    # Dense rows

    def _dense(self, block: bytes, first: int) -> Content:
        pa = need_pyarrow("ARFF files of dense rows")
        columns = None if self.form == "extended" else self._fast(block)
        signed = None
        if columns is None:
            columns, signed = self._careful(block, first)
        kept = self._kept()
        for j in kept:
            attribute = self.attributes[j]
            if attribute.kind == "nominal":
                categories = pa.array(attribute.categories, pa.string())
                chunks = [pa.DictionaryArray.from_arrays(c, categories) for c in columns[j].chunks]
                columns[j] = pa.chunked_array(chunks)
        labels = self._dense_labels(columns, signed, block, first)
        names = [self.attributes[j].name for j in kept]
        table = pa.table([columns[j] for j in kept], names=names)
        return Content(self.source.name, "arff", names, table=table, labels=labels, declared=self._declared())

    def _kept(self) -> list[int]:
        gone = set(self.label_at)
        return [j for j in range(len(self.attributes)) if j not in gone]

    def _declared(self) -> dict[str, list[str]]:
        kept = (self.attributes[j] for j in self._kept())
        return {a.name: a.categories for a in kept if a.kind == "nominal"}

    def _fast(self, block: bytes) -> list | None:
        """Columns by way of pyarrow, nominal ones as numbers; None where the block needs a closer look."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        if b"\\" in block or b"{" in block or b"\x00" in block:
            return None
        if b"%" in block:
            block = _COMMENT_LINES.sub(b"", block)
        quotes = [q for q in (b"'", b'"') if q in block]
        if len(quotes) > 1 or b"%" in block:
            return None
        if b" " in block or b"\t" in block:
            if len(self.attributes) == 1:
                return None
            if block[:1] in b" \t" or any(pair in block for pair in _BLANK_AT_EDGE):
                if quotes:
                    return None
                block = _without_blanks(block)
        if b"\n\n" in block or block.startswith(b"\n"):
            block = re.sub(rb"\n\n+", b"\n", block).lstrip(b"\n")
        if not block or (quotes and not _are_outer(quotes[0], block)):
            return None
        if block.startswith(codecs.BOM_UTF8):  # pyarrow would leave it out: here it is a part of the first value
            return None
        names = [str(j) for j in range(len(self.attributes))]
        kinds = {"number": pa.float64(), "nominal": pa.dictionary(pa.int32(), pa.string()), "text": pa.string()}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                read_options=arrow_csv.ReadOptions(column_names=names, block_size=max(1 << 20, len(block) // 4)),
                parse_options=arrow_csv.ParseOptions(
                    quote_char=quotes[0].decode() if quotes else False, double_quote=False, newlines_in_values=False
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={n: kinds[a.kind] for n, a in zip(names, self.attributes, strict=True)},
                    null_values=["?"],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowException:
            return None
        # A quote that swallows a line end leaves fewer rows than lines.
        if table.num_rows != block.count(b"\n"):
            return None
        return self._checked_columns(table)

    def _checked_columns(self, table) -> list | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = []
        for attribute, column in zip(self.attributes, table.columns, strict=True):
            if attribute.kind == "text" and pc.any(pc.equal(column, "")).as_py():
                return None
            if attribute.kind == "nominal":
                categories = pa.array(attribute.categories, pa.string())
                chunks = []
                for chunk in column.chunks:
                    codes = pc.index_in(chunk.dictionary, value_set=categories)
                    if codes.null_count:
                        return None
                    chunks.append(codes.take(chunk.indices))
                column = pa.chunked_array(chunks, pa.int32())
            columns.append(column)
        return columns

    def _careful(self, block: bytes, first: int) -> tuple[list, list[np.ndarray]]:
        """The same columns row by row, and the signed weights of the extended form."""
        import pyarrow as pa

        values: list[list] = [[] for _ in self.attributes]
        signed = []
        absent = [None if a.kind == "text" else 0 for a in self.attributes]
        for line, row in self._rows(block, first):
            for j, column in enumerate(values):
                if self.form == "extended" and j == self.label_at[0]:
                    signed.append(self._extended(row.get(j), line))
                elif j in row:
                    column.append(self._value(j, row[j], line))
                elif absent[j] is None:
                    name = self.attributes[j].name
                    raise self.error(f"a sparse row must give the text attribute {name!r} a value", line)
                elif self.attributes[j].kind == "nominal" and not self.attributes[j].categories:
                    column.append(None)
                else:
                    column.append(absent[j])
        kinds = {"number": pa.float64(), "nominal": pa.int32(), "text": pa.string()}
        columns = [pa.chunked_array([pa.array(v, kinds[a.kind])]) for v, a in zip(values, self.attributes, strict=True)]
        return columns, signed

    def _dense_labels(self, columns: list, signed: list[np.ndarray] | None, block: bytes, first: int) -> Labels | None:
        if self.form is None:
            return None
        if self.form == "extended":
            assert signed is not None
            return self._signed_labels(np.array(signed).reshape(-1, len(self.label_names)))
        found = np.empty((len(columns[0]), len(self.label_at)))
        for k, j in enumerate(self.label_at):
            found[:, k] = columns[j].cast("float64").to_numpy()

        def line_of(row: int) -> int:
            lines = data_lines(block, first)
            return next(line for i, (line, _) in enumerate(lines) if i == row)

        return self._labels(found, line_of)

    def _labels(self, found: np.ndarray, line_of) -> Labels:
        """Labels of the values (n, K) of the label attributes; NaN is unknown."""
        if self.form == "signed":
            if np.isinf(found).any():
                row, k = np.argwhere(np.isinf(found))[0]
                raise self.error(f"the weight of label {self.label_names[k]!r} is infinite", line_of(row))
            return self._signed_labels(np.nan_to_num(found))
        signs = np.zeros(found.shape, np.int8)
        for k, j in enumerate(self.label_at):
            attribute = self.attributes[j]
            known = ~np.isnan(found[:, k])
            if attribute.kind == "nominal":
                meaning = np.array([_SIGN_OF_CATEGORY[c.lower()] for c in attribute.categories] or [0], np.int8)
                signs[known, k] = meaning[found[known, k].astype(np.intp)]
                continue
            strange = known & (found[:, k] != 0) & (found[:, k] != 1)
            if strange.any():
                row = int(strange.argmax())
                raise self.error(
                    f"the label {attribute.name!r} must be 0 or 1 but here is {found[row, k]:g}", line_of(row)
                )
            signs[known, k] = 2 * found[known, k].astype(np.int8) - 1
        return Labels(None, self.label_names, signs, np.abs(signs).astype(np.float64))

    def _signed_labels(self, signed: np.ndarray) -> Labels:
        return Labels(None, self.label_names, np.sign(signed).astype(np.int8), np.abs(signed))

    # Sparse rows

    def _sparse(self, block: bytes, first: int) -> Content:
        """Rows of a file whose first row is sparse: nominal columns hold the category's number."""
        kept = self._kept()
        column_of = dict(zip(kept, range(len(kept)), strict=True))
        label_of = {j: k for k, j in enumerate(self.label_at)}
        indptr, indices, data = [0], [], []
        labels: list[np.ndarray] = []
        lines = []
        for line, row in self._rows(block, first):
            lines.append(line)
            if self.form == "extended":
                labels.append(self._extended(row.pop(self.label_at[0], None), line))
            elif self.form:
                labels.append(np.zeros(len(label_of)))
            for j in sorted(row):
                value = self._value(j, row[j], line)
                value = np.nan if value is None else value
                if j in label_of:
                    labels[-1][label_of[j]] = value
                elif value != 0:
                    indices.append(column_of[j])
                    data.append(value)
            indptr.append(len(indices))
        matrix = sp.csr_array(
            (np.array(data, np.float64), np.array(indices, np.int32), np.array(indptr, np.int64)),
            shape=(len(lines), len(kept)),
        )
        names = [self.attributes[j].name for j in kept]
        found = None
        if self.form:
            array = np.array(labels).reshape(len(lines), len(self.label_names))
            found = self._signed_labels(array) if self.form == "extended" else self._labels(array, lines.__getitem__)
        return Content(self.source.name, "arff", names, matrix=matrix, labels=found, declared=self._declared())


def _without_blanks(block: bytes) -> bytes:
    """Lines without blanks around their values."""
    block = block.lstrip(b" \t")
    for _ in range(4):  # replacing is many times faster than a regular expression
        there = [pair for pair in _BLANK_AT_EDGE if pair in block]
        if not there:
            return block
        for pair in there:
            block = block.replace(pair, pair.strip(b" \t"))
    return _BLANKS.sub(rb"\1", block)


def _are_outer(quote: bytes, block: bytes) -> bool:
    """Whether every quote begins or ends a value, none does both, and as many end as begin."""
    opening = block.count(b"," + quote) + block.count(b"\n" + quote) + block.startswith(quote)
    closing = block.count(quote + b",") + block.count(quote + b"\n")
    both = (b"," + quote + b",", b"," + quote + b"\n", b"\n" + quote + b",", b"\n" + quote + b"\n")
    # One that does not end in the last line would take the line's end into its value.
    return opening == closing == block.count(quote) / 2 and not any(pair in block for pair in both)
