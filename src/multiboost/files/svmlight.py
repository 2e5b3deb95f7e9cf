"""svmlight (libsvm) files: ``label[,label] [qid:number] index:value ... [# comment]``.

Column numbers begin at 0 where the file has an index 0 anywhere, else at 1.  That, the number of columns
and the set of labels are known only after the last line, so reading in batches goes through the file twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .content import Content, Labels, NumberedNames, concatenate
from .error import shorten
from .reader import Reader
from .source import Source

# scipy keeps column numbers as int32 where it can; more columns than that no file has.
LARGEST_INDEX = 2**31 - 2
_COMMENT = re.compile(rb"#[^\n]*")
_QID = re.compile(rb"^([ \t]*[^\s:]+[ \t]+)qid:([0-9]{1,18})(?=[ \t\n])", re.MULTILINE)
_NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE)
_TO_LINES = bytes.maketrans(b" \t:", b"\n\n\n")
_SPACE, _COLON, _NEWLINE = 0x20, 0x3A, 0x0A


@dataclass
class _Piece:
    """Rows as the file writes them; indices not yet shifted."""

    lines: np.ndarray  # (n,) line of each row
    label_count: np.ndarray  # (n,)
    labels: np.ndarray  # all labels of all rows
    groups: np.ndarray | None
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class _Survey:
    """What is known only after the last line."""

    def __init__(self):
        self.least = LARGEST_INDEX + 1
        self.most = -1
        self.labels: np.ndarray = np.zeros(0)
        self.few = LARGEST_INDEX
        self.many = 0
        self.unlabelled: int | None = None

    def see(self, piece: _Piece) -> None:
        if len(piece.indices):
            self.least = min(self.least, int(piece.indices.min()))
            self.most = max(self.most, int(piece.indices.max()))
        self.labels = np.union1d(self.labels, piece.labels)
        self.few = min(self.few, int(piece.label_count.min()))
        self.many = max(self.many, int(piece.label_count.max()))
        if self.unlabelled is None and not piece.label_count.all():
            self.unlabelled = int(piece.lines[piece.label_count == 0][0])


class SvmlightReader(Reader):
    """A svmlight or libsvm file.

    Parameters
    ----------
    source : Source
    zero_based : bool or "auto"
        Whether column numbers begin at 0; "auto": where the file has an index 0.
    n_features : int or None
        Number of columns; None: as many as the file has.
    multilabel : bool or None
        None: where some line has more than one label.
    """

    def __init__(self, source: Source, zero_based: bool | str = "auto", n_features=None, multilabel=None):
        super().__init__(source)
        if zero_based not in (True, False, "auto"):
            raise self.error(f"zero_based must be True, False or 'auto', not {zero_based!r}")
        self.zero_based = zero_based
        self.n_features = n_features
        self.multilabel = multilabel
        self._grouped: bool | None = None

    def whole(self) -> Content:
        """All rows, in one pass."""
        survey = _Survey()
        parts = []
        for piece in self._parse():
            survey.see(piece)
            parts.append(piece)
        self._settle(survey)
        return concatenate([self._content(piece, survey) for piece in parts])

    def pieces(self) -> Iterator[Content]:
        """Blocks of rows, after a first pass over the file."""
        self.source.keep()
        survey = _Survey()
        for piece in self._parse():
            survey.see(piece)
        self._settle(survey)
        for piece in self._parse():
            yield self._content(piece, survey)

    def _settle(self, survey: _Survey) -> None:
        """Decide on the labels, or say why that cannot be done."""
        if survey.few > survey.many:
            raise self.error("the file has no rows of data")
        multilabel = survey.many > 1 if self.multilabel is None else self.multilabel
        if not multilabel and survey.many > 1:
            raise self.error("some lines have several labels, which multilabel=False does not allow")
        if not multilabel and survey.many == 1 and survey.few == 0:
            raise self.error(
                "this line has no label but others have one; multilabel=True allows rows without labels",
                survey.unlabelled,
            )
        self._is_multilabel = multilabel
        self._is_labelled = survey.many > 0 or bool(self.multilabel)
        self._is_whole = bool((survey.labels == np.floor(survey.labels)).all()) and bool(
            (np.abs(survey.labels) < 2**53).all()
        )

    def _content(self, piece: _Piece, survey: _Survey) -> Content:
        zero_based = survey.least == 0 if self.zero_based == "auto" else bool(self.zero_based)
        start = 0 if zero_based else 1
        n_columns = max(survey.most + 1 - start, 0) if self.n_features is None else self.n_features
        wrong = (piece.indices < start) | (piece.indices >= n_columns + start)
        if wrong.any():
            at = int(wrong.argmax())
            row = int(np.searchsorted(piece.indptr, at, side="right")) - 1
            limits = f"between {start} and {n_columns + start - 1}"
            raise self.error(f"the index {piece.indices[at]} is not {limits}", int(piece.lines[row]))
        matrix = sp.csr_array(
            (piece.data, (piece.indices - start).astype(np.int32), piece.indptr), shape=(len(piece.lines), n_columns)
        )
        return Content(
            self.source.name,
            "svmlight",
            NumberedNames(n_columns, start),
            matrix=matrix,
            labels=self._labels(piece, survey) if self._is_labelled else None,
            groups=piece.groups,
        )

    def _labels(self, piece: _Piece, survey: _Survey) -> Labels:
        if not self._is_multilabel:
            return Labels(piece.labels.astype(np.int64) if self._is_whole else piece.labels)
        signs = np.full((len(piece.lines), len(survey.labels)), -1, np.int8)
        rows = np.repeat(np.arange(len(piece.lines)), piece.label_count)
        signs[rows, np.searchsorted(survey.labels, piece.labels)] = 1
        names = [str(int(v)) if self._is_whole else repr(float(v)) for v in survey.labels]
        return Labels(None, names, signs, np.ones(signs.shape))

    def _parse(self) -> Iterator[_Piece]:
        """Pieces of the file, fast where the lines are plain."""
        self._grouped = None
        for first, block in self.source.blocks():
            piece = self._fast(block, first)
            if piece is None:
                piece = self._careful(block, first)
            if len(piece.lines) == 0:
                continue
            grouped = piece.groups is not None
            if self._grouped is None:
                self._grouped = grouped
            elif self._grouped != grouped:
                raise self._mixed_groups(int(piece.lines[0]))
            yield piece

    def _mixed_groups(self, line: int):
        return self.error("some lines have a qid and others, like this one, do not, or the other way round", line)

    def _fast(self, block: bytes, first: int) -> _Piece | None:
        """Rows of one label each, by counting bytes; None where the block needs a closer look."""
        if b"#" in block:
            block = _COMMENT.sub(b"", block)
        groups = None
        if b"qid:" in block:
            found = _QID.findall(block)
            groups = np.array([number for _, number in found], dtype=np.int64)
            block = _QID.sub(rb"\1", block)
        if b"_" in block or b"," in block or not block.isascii():
            return None
        raw = np.frombuffer(block, np.uint8)
        solid = raw > _SPACE
        starts = np.flatnonzero(solid & ~np.concatenate([[False], solid[:-1]]))
        if not len(starts):
            return None
        ends = np.flatnonzero(raw == _NEWLINE)
        line_of_token = np.searchsorted(ends, starts)
        is_first = np.concatenate([[True], line_of_token[1:] != line_of_token[:-1]])
        colons = np.add.reduceat(raw == _COLON, starts)
        # The first token of a line is the label, every other one has the form index:value.
        if not np.array_equal(colons, np.where(is_first, 0, 1)):
            return None
        numbers = _numbers(block)
        n_rows = int(is_first.sum())
        if (
            numbers is None
            or len(numbers) != 2 * len(starts) - n_rows
            or (groups is not None and len(groups) != n_rows)
        ):
            return None
        at = np.cumsum(np.where(is_first, 1, 2)) - np.where(is_first, 1, 2)
        labels = numbers[at[is_first]]
        index = numbers[at[~is_first]]
        indptr = np.concatenate([np.flatnonzero(is_first) - np.arange(n_rows), [len(index)]])
        if not (np.isfinite(labels).all() and (index >= 0).all() and (index <= LARGEST_INDEX).all()):
            return None
        whole = index.astype(np.int64)
        rising = np.ones(len(index), bool)
        rising[1:] = whole[1:] > whole[:-1]
        begins = indptr[:-1]
        rising[begins[begins < len(index)]] = True
        # An index like 3.0 or 3e0 is a number too, but no whole number as the format writes it.
        if not (whole == index).all() or not rising.all() or not _plain_indices(raw):
            return None
        lines = line_of_token[is_first] + first
        return _Piece(lines, np.ones(n_rows, np.int64), labels, groups, indptr, whole, numbers[at[~is_first] + 1])

    def _careful(self, block: bytes, first: int) -> _Piece:
        """The same, line by line."""
        lines: list[int] = []
        count: list[int] = []
        labels: list[float] = []
        groups: list[int] = []
        indptr = [0]
        indices: list[int] = []
        data: list[float] = []
        for line, text in enumerate(block.split(b"\n"), first):
            words = text.partition(b"#")[0].split()
            if not words:
                continue
            found = [] if b":" in words[0] else self._label_list(words.pop(0), line)
            if words and words[0].startswith(b"qid:"):
                number = words.pop(0)[4:]
                if not re.fullmatch(rb"[0-9]{1,18}", number):
                    raise self.error(f"the qid {_show(number)} is not a whole number", line)
                groups.append(int(number))
            if lines and (len(groups) > 0) != (len(groups) == len(lines) + 1):
                raise self._mixed_groups(line)
            lines.append(line)
            count.append(len(found))
            labels.extend(found)
            last = -1
            for word in words:
                index, value = self._entry(word, line)
                if index <= last:
                    what = "is there twice" if index == last else f"comes after {last}"
                    raise self.error(f"the index {index} {what}; indices must rise along a line", line)
                last = index
                indices.append(index)
                data.append(value)
            indptr.append(len(indices))
        return _Piece(
            np.array(lines, np.int64),
            np.array(count, np.int64),
            np.array(labels, np.float64),
            np.array(groups, np.int64) if groups else None,
            np.array(indptr, np.int64),
            np.array(indices, np.int64),
            np.array(data, np.float64),
        )

    def _label_list(self, word: bytes, line: int) -> list[float]:
        found = []
        for part in word.split(b","):
            if not _NUMBER.fullmatch(part) or not np.isfinite(float(part)):
                raise self.error(f"the label {_show(part)} is not a number", line)
            found.append(float(part))
        if len(set(found)) < len(found):
            raise self.error(f"a label is there twice in {_show(word)}", line)
        return found

    def _entry(self, word: bytes, line: int) -> tuple[int, float]:
        index, colon, value = word.partition(b":")
        if not colon:
            raise self.error(f"{_show(word)} has not the form index:value", line)
        if not re.fullmatch(rb"[0-9]+", index):
            raise self.error(f"the index {_show(index)} is not a whole number from 0 on", line)
        if len(index) > 18 or int(index) > LARGEST_INDEX:
            raise self.error(f"the index {_show(index)} is larger than {LARGEST_INDEX}", line)
        if not _NUMBER.fullmatch(value):
            raise self.error(f"the value {_show(value)} of index {int(index)} is not a number", line)
        return int(index), float(value)


def _numbers(block: bytes) -> np.ndarray | None:
    """All numbers between blanks and colons; None where something else is there."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        try:
            return np.array(list(map(float, block.replace(b":", b" ").split())))
        except ValueError:
            return None
    # One number per line is a csv file of one column, which pyarrow parses many times faster than Python.
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block.translate(_TO_LINES)),
            read_options=arrow_csv.ReadOptions(column_names=["x"]),
            parse_options=arrow_csv.ParseOptions(delimiter=",", quote_char=False),
            convert_options=arrow_csv.ConvertOptions(column_types={"x": pa.float64()}, null_values=[]),
        )
    except pa.ArrowException:
        return None
    return table.column("x").to_numpy()


def _plain_indices(raw: np.ndarray) -> bool:
    """Whether only digits stand before each colon up to the blank."""
    at = np.flatnonzero(raw == _COLON) - 1
    is_digit = (raw >= 0x30) & (raw <= 0x39)
    if not is_digit[at].all():
        return False
    # Walk left from all colons at once, until each has met a blank.
    while len(at):
        at = at - 1
        at = at[raw[at] > _SPACE]
        if not is_digit[at].all():
            return False
    return True


def _show(word: bytes) -> str:
    return shorten(word.decode())
