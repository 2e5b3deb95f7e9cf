"""Data files: every format against an independent reader, round trips, every error, mutated bytes."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from multiboost.files import FORMATS, Content, FileError, Labels, read_batches, read_file, write_table

from .conftest import reference, shared_data

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

OPENERS = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def put(tmp_path):
    """Write text or bytes to a file of some name, compressed as its name says."""

    def write(name, data):
        path = tmp_path / name
        opener = OPENERS.get(path.suffix, open)
        with opener(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return path

    return write


def columns(content: Content) -> dict:
    """Columns as lists of Python values, text for nominal ones."""
    return {n: content.table.column(n).to_pylist() for n in content.names}


def same(a: Content, b: Content) -> None:
    """Two contents of the same values, types and labels."""
    assert a.names == b.names
    assert a.declared == b.declared
    assert a.n_rows == b.n_rows
    if a.table is not None:
        assert a.table.schema.equals(b.table.schema)
        assert repr(a.table.to_pydict()) == repr(b.table.to_pydict())
    elif sp.issparse(a.matrix):
        assert a.matrix.shape == b.matrix.shape
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(a.matrix, name), getattr(b.matrix, name))
    else:
        np.testing.assert_array_equal(a.matrix, b.matrix)
    assert (a.labels is None) == (b.labels is None)
    if a.labels is not None:
        assert a.labels.names == b.labels.names
        for name in ("classes", "signs", "weights"):
            np.testing.assert_array_equal(getattr(a.labels, name), getattr(b.labels, name))
    np.testing.assert_array_equal(a.groups, b.groups)


def joined(path, rows, **options) -> Content:
    """All batches as one, after a check of their sizes."""
    from multiboost.files.content import concatenate

    batches = list(read_batches(path, rows=rows, **options))
    assert all(b.n_rows == rows for b in batches[:-1])
    assert 0 < batches[-1].n_rows <= rows
    return concatenate(batches)


# Csv and tsv


def test_csv_types(put):
    path = put(
        "a.csv",
        "whole,real,text,date,flag,code,empty,huge\n"
        '1,0.1,"a,b",2020-01-01,true,007,,99999999999999999999\n'
        '-2,NA,NA,2021-02-03,false,12,,1\n3,,"",x,true,?,,2\n',
    )
    content = read_file(path)
    assert columns(content) == {
        "whole": [1, -2, 3],
        "real": [0.1, None, None],
        "text": ["a,b", "NA", None],
        "date": ["2020-01-01", "2021-02-03", "x"],
        "flag": ["true", "false", "true"],
        "code": [7, 12, None],
        "empty": [None] * 3,
        "huge": [1e20, 1.0, 2.0],
    }
    types = ["int64", "double", "string", "string", "string", "int64", "double", "double"]
    assert [str(t) for t in content.table.schema.types] == types
    same(content, joined(path, 2))


def test_csv_columns_of_dates_are_text(put):
    """Also where every field is one, whatever the parser would make of it."""
    path = put("a.csv", "d,t,s\n2020-01-01,10:20,2020-01-01 10:20:30\n2020-01-02,11:20,2020-01-01 10:20:31\n")
    assert columns(read_file(path))["t"] == ["10:20", "11:20"]
    assert columns(read_file(path))["s"][1] == "2020-01-01 10:20:31"
    same(read_file(path), joined(path, 1))


def test_csv_forced_types(put):
    path = put("a.csv", "zip,x\n01234,1\n99999,NA\n")
    content = read_file(path, types={"zip": "text", "x": "number"})
    assert columns(content) == {"zip": ["01234", "99999"], "x": [1.0, None]}
    same(content, joined(path, 1, types={"zip": "text", "x": "number"}))
    with pytest.raises(FileError, match=r"a\.csv, line 3: column 'x' should hold numbers but here is 'b'"):
        read_file(put("a.csv", "zip,x\n1,2\n1,b\n"), types={"x": "number"})
    with pytest.raises(FileError, match=r"a\.csv, line 3: column 'x' should hold numbers but here is 'b'"):
        list(read_batches(put("a.csv", "zip,x\n1,2\n1,b\n"), types={"x": "number"}))
    with pytest.raises(FileError, match="no column 'y' to give a type"):
        read_file(path, types={"y": "text"})
    with pytest.raises(FileError, match="type of column 'x' must be one of number, text"):
        read_file(path, types={"x": "int"})


def test_csv_missing_words(put):
    path = put("a.csv", "a,b\n-,x\n2,-\n")
    assert columns(read_file(path)) == {"a": ["-", "2"], "b": ["x", "-"]}
    assert columns(read_file(path, missing="-")) == {"a": [None, 2], "b": ["x", None]}
    same(read_file(path, missing=["-"]), joined(path, 1, missing=["-"]))


def test_csv_without_header_and_other_delimiter(put):
    path = put("a.csv", "1;x\n2;y")
    content = read_file(path, header=False, delimiter=";")
    assert columns(content) == {"f0": [1, 2], "f1": ["x", "y"]}
    with pytest.raises(FileError, match="one character"):
        read_file(path, delimiter=";;")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark(put, end, last, mark):
    """LF, CRLF, CR, with or without the last one: the same rows in every text format."""

    def lines(*texts):
        return mark + end.join(texts) + (end if last else "")

    assert columns(read_file(put("a.csv", lines("a,b", "1,x", "2,y")))) == {"a": [1, 2], "b": ["x", "y"]}
    arff = put("a.arff", lines("@relation r", "@attribute a numeric", "@attribute b {x,y}", "@data", "1,x", "2,y"))
    assert columns(read_file(arff)) == {"a": [1, 2], "b": ["x", "y"]}
    svm = read_file(put("a.svm", lines("1 1:2 3:4", "0 2:5")))
    np.testing.assert_array_equal(svm.matrix.toarray(), [[2, 0, 4], [0, 5, 0]])
    simple = read_file(put("a.txt", lines("u 1 2", "v 3 4")))
    np.testing.assert_array_equal(simple.matrix, [[1, 2], [3, 4]])
    assert simple.labels.classes.tolist() == ["u", "v"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
@QUICK
def test_numbers_are_the_nearest_doubles(tmp_path, values):
    """However many digits: text, value, text, as Python's own float reads it."""
    texts = [f"{v:.17g}" for v in values] + [f"{v!r}0" if "e" not in repr(v) else repr(v) for v in values]
    right = np.array([float(t) for t in texts])
    (tmp_path / "a.csv").write_text("x,t\n" + "".join(f"{t},a\n" for t in texts))
    found = read_file(tmp_path / "a.csv").table.column("x").to_numpy().astype(float)
    np.testing.assert_array_equal(found, right)
    (tmp_path / "a.arff").write_text("@attribute x real\n@data\n" + "\n".join(texts))
    np.testing.assert_array_equal(read_file(tmp_path / "a.arff").table.column("x").to_numpy(), right)
    (tmp_path / "a.svm").write_text("".join(f"1 1:{t}\n" for t in texts))
    np.testing.assert_array_equal(read_file(tmp_path / "a.svm").matrix.toarray()[:, 0], right)
    (tmp_path / "a.txt").write_text("".join(f"c {t}\n" for t in texts))
    np.testing.assert_array_equal(read_file(tmp_path / "a.txt").matrix[:, 0], right)


def test_csv_against_pandas(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 6)), columns=list("abcdef"))
    frame["g"] = rng.choice(["x", "y,z", 'q"r', "two\nlines"], 500)
    frame["h"] = rng.integers(-9, 9, 500)
    frame.loc[rng.random(500) < 0.1, "c"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    content = read_file(tmp_path / "a.csv")
    theirs = pd.read_csv(tmp_path / "a.csv")
    for name in frame:
        mine = content.table.column(name).to_pandas()
        assert (mine.fillna(-1) == theirs[name].fillna(-1)).all()
    same(content, joined(tmp_path / "a.csv", 37))


FIELD = st.sampled_from(
    [
        "1",
        "-2",
        "0.5",
        "1e3",
        "",
        "NA",
        "nan",
        "x",
        "007",
        " 3",
        "0x1F",
        "+4",
        "inf",
        "true",
        "é",
        "?",
        "2024-01-31",
        "7:30",
    ]
)


@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=30), st.integers(1, 7), st.sampled_from([16, 1 << 22]))
@QUICK
def test_csv_batches_have_the_types_of_the_whole(tmp_path, rows, size, block):
    """Also where the first of many blocks suggests other types."""
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{x},{y}\n" for x, y in rows))
    whole = read_file(tmp_path / "a.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multiboost.files.delimited._BLOCK", block)
        same(whole, joined(tmp_path / "a.csv", size))


def test_most_csv_files_are_not_surveyed_as_text(tmp_path, monkeypatch):
    """What the first block suggests is tried first, as to look at each column of text takes several times as long."""
    monkeypatch.setattr("multiboost.files.delimited._Guess.see", None)
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,0.5,x\n" * 1000)
    assert [str(t) for t in joined(tmp_path / "a.csv", 300).table.schema.types] == ["int64", "double", "string"]


def test_csv_types_change_late(tmp_path, monkeypatch):
    """A column that turns to text after many blocks is text from the first batch on."""
    import multiboost.files.delimited as delimited

    monkeypatch.setattr(delimited, "_BLOCK", 1000)
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,2,3\n" * 5000 + "1.5,x,0x1F\n")
    content = joined(tmp_path / "a.csv", 999)
    assert [str(t) for t in content.table.schema.types] == ["double", "string", "int64"]
    same(read_file(tmp_path / "a.csv"), content)


def test_csv_row_longer_than_a_block(tmp_path, monkeypatch):
    import multiboost.files.delimited as delimited

    monkeypatch.setattr(delimited, "_BLOCK", 64)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3," + "x" * 5000 + "\n")
    assert columns(read_file(tmp_path / "a.csv"))["b"][1] == "x" * 5000
    same(read_file(tmp_path / "a.csv"), joined(tmp_path / "a.csv", 1))


CSV_ERRORS = {
    "empty": ("", "a.csv: the file is empty"),
    "only blank lines": ("\n\n", r"a.csv: the file is empty"),
    "header only": ("a,b\n", "no rows of data"),
    "ragged, too few": ("a,b\n1,2\n3\n", r"line 3: 1 fields where 2 columns are expected"),
    "ragged, too many": ("a,b\n1,2\n\n3,4,5\n", r"line 4: 3 fields where 2 columns are expected"),
    "ragged after a field of two lines": ('a,b\n"1\n1",2\n3\n', r"line 4: 1 fields"),
    "two of one name": ("a,b,a\n1,2,3\n", "line 1: two columns are called 'a'; rename one"),
    "not UTF-8": (b"a,b\n1,x\n2,\xe9t\xe9\n", "line 3: the byte 0xe9 is not UTF-8"),
    "header not UTF-8": (b"\xe9,b\n1,x\n", "line 1: the byte 0xe9 is not UTF-8"),
    "quote that does not end": ('a,b\n1,x\n2,"y\n3,z\n', "line 3: a quoted field begins here and never ends"),
}


@pytest.mark.parametrize("kind", CSV_ERRORS)
def test_csv_errors(put, kind):
    text, message = CSV_ERRORS[kind]
    path = put("a.csv", text)
    with pytest.raises(FileError, match=message):
        read_file(path)
    with pytest.raises(FileError, match=message):
        list(read_batches(path))


def test_error_says_file_and_line(put):
    path = put("a.csv", "a,b\n1,2\n3\n")
    with pytest.raises(FileError, match="line 3") as caught:
        read_file(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line) == (str(caught.value), 3)


# Parquet and Arrow


@pytest.fixture
def frame():
    """A table of all kinds of columns."""
    rng = np.random.default_rng(1)
    n = 300
    numbers = [None if v < -1 else v for v in rng.normal(size=n)]
    return pa.table(
        {
            "x": pa.array(numbers, pa.float64()),
            "n": pa.array(rng.integers(-5, 5, n)),
            "t": pa.array([None if v == 0 else f"té {v}, '\"{{%" for v in rng.integers(0, 5, n)], pa.string()),
            "c": pa.DictionaryArray.from_arrays(
                pa.array(rng.integers(0, 3, n), pa.int32()), ["a b", "it's", '"q"', "never"]
            ),
        }
    )


@pytest.mark.parametrize("suffix", list(OPENERS))
@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "arrow", "feather", "arff"])
def test_round_trip_of_tables(frame, tmp_path, format, suffix):
    """Numbers bit for bit, text, missing values; categories where the format has them."""
    path = tmp_path / f"table.{format}{suffix}"
    write_table(frame, path)
    content = read_file(path)
    assert content.names == frame.column_names
    assert content.table.to_pydict() == frame.to_pydict()
    if format in ("arrow", "feather", "arff"):
        assert content.declared["c"] == ["a b", "it's", '"q"', "never"]
    same(content, joined(path, 77))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if suffix:
        with OPENERS[suffix](path) as file:
            assert len(file.read()) > 1000


def test_arrow_stream(frame, tmp_path):
    """The streaming form of Arrow too, which has no footer."""
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), frame.schema) as writer:
        writer.write_table(frame, max_chunksize=50)
    assert read_file(tmp_path / "a.arrow").table.to_pydict() == frame.to_pydict()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_columnar_errors(frame, put, tmp_path, suffix):
    for data in (b"", b"hello, this is no such file", b"PAR1", b"ARROW1"):
        path = put(f"a{suffix}", data)
        with pytest.raises(FileError, match=r"this is not a whole (Parquet|Arrow) file"):
            read_file(path)
    write_table(frame, path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match="this is not a whole"):
        list(read_batches(path))
    writer = {".parquet": parquet.write_table, ".arrow": feather.write_feather}[suffix]
    writer(frame.slice(0, 0), path)
    with pytest.raises(FileError, match="no rows of data"):
        read_file(path)


def test_parquet_of_two_columns_of_one_name(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(FileError, match="two columns are called 'a'"):
        read_file(tmp_path / "a.parquet")
    with pytest.raises(FileError, match="two columns have one name"):
        write_table(table, tmp_path / "b.csv")


# ARFF


ARFF = r"""% a comment
@RELATION 'a set'

@Attribute	'an age'	INTEGER [0,100]  % years
@attribute "colour" {red, 'light blue',"it's", 'back\\slash', '?', 'a\'b', 50%}
@ATTRIBUTE day DATE "yyyy-MM-dd"
@attribute note string
@attribute x{a,b}
@data  % here they are
1, red ,2020-01-01,'hello, world',a
% between
 2.5	,'light blue', "2020-02-02" , 'two\nlines\u0041',b

?,"it's",?,'?',?   % at the end
-1e3,'back\\slash',d,"it's {",a
+4,'?',d,'',a
5,'a\'b',d,don't,b
6,50%,d,é,b"""


def test_arff_by_hand(put):
    content = read_file(put("a.arff", ARFF))
    assert columns(content) == {
        "an age": [1, 2.5, None, -1000, 4, 5, 6],
        "colour": ["red", "light blue", "it's", "back\\slash", "?", "a'b", "50%"],
        "day": ["2020-01-01", "2020-02-02", None, "d", "d", "d", "d"],
        "note": ["hello, world", "two\nlinesA", "?", "it's {", "", "don't", "é"],
        "x": ["a", "b", None, "a", "a", "b", "b"],
    }
    assert content.declared["colour"] == ["red", "light blue", "it's", "back\\slash", "?", "a'b", "50%"]
    assert content.declared["x"] == ["a", "b"]
    assert content.labels is None
    same(content, joined(put("a.arff", ARFF), 2))


def test_arff_separated_by_blanks(put):
    content = read_file(put("a.arff", "@attribute a real\n@attribute b {'u v',w}\n@data\n1 'u v'\n2\tw\n"))
    assert columns(content) == {"a": [1, 2], "b": ["u v", "w"]}


def test_arff_sparse(put):
    text = (
        "@attribute a real\n@attribute b {no,yes,maybe}\n@attribute c real\n@data\n"
        "{0 1.5, 2 -2}\n{}\n% c\n{ 1 maybe ,2 ? }\n{2 7,0 3}\n4,yes,0\n"
    )
    content = read_file(put("a.arff", text))
    assert sp.issparse(content.matrix)
    np.testing.assert_array_equal(
        content.matrix.toarray(), [[1.5, 0, -2], [0, 0, 0], [0, 2, np.nan], [3, 0, 7], [4, 1, 0]]
    )
    assert content.declared == {"b": ["no", "yes", "maybe"]}
    same(content, joined(put("a.arff", text), 2))


def test_arff_sparse_row_among_dense_ones(put):
    content = read_file(put("a.arff", "@attribute a real\n@attribute b {n,y}\n@data\n1,y\n{0 2}\n"))
    assert columns(content) == {"a": [1, 2], "b": ["y", "n"]}


def test_arff_label_weights(put):
    """MultiBoost's form: sign and weight of the labels that are given, the others are unknown."""
    text = "@attribute a real\n@attribute class {u,'v w',x}\n@data\n1,{u 0.5, 'v w' -2}\n2,{x 1 u -1}\n3,{}\n4,?\n"
    content = read_file(put("a.arff", text))
    assert content.names == ["a"]
    assert content.labels.names == ["u", "v w", "x"]
    np.testing.assert_array_equal(content.labels.signs, [[1, -1, 0], [-1, 0, 1], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(content.labels.weights, [[0.5, 2, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]])
    same(content, joined(put("a.arff", text), 1))


def test_arff_sparse_with_label_weights(put):
    text = "@attribute a real\n@attribute b real\n@attribute class {u,v}\n@data\n{0 3},{u 1, v -0.5}\n{1 2}, {v 2}\n"
    content = read_file(put("a.arff", text))
    np.testing.assert_array_equal(content.matrix.toarray(), [[3, 0], [0, 2]])
    np.testing.assert_array_equal(content.labels.signs * content.labels.weights, [[1, -0.5], [0, 2]])


def test_arff_signed_labels(put):
    text = "@attribute a real\n@attribute classU numeric\n@attribute ClassV real\n@data\n1,-2,0.5\n2,?,0\n"
    content = read_file(put("a.arff", text))
    assert content.labels.names == ["U", "V"]
    np.testing.assert_array_equal(content.labels.signs, [[-1, 1], [0, 0]])
    np.testing.assert_array_equal(content.labels.weights, [[2, 0.5], [0, 0]])
    assert read_file(put("a.arff", text), labels=False).names == ["a", "classU", "ClassV"]
    one = "@attribute a real\n@attribute class_rings numeric\n@data\n1,2\n"
    assert read_file(put("a.arff", one)).labels is None


MULAN = (
    "@attribute l2 {0,1}\n@attribute a real\n@attribute 'l 1' {1,0}\n@attribute l3 numeric\n@data\n0,5,0,1\n1,6,1,?\n"
)
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="l 1"><label name="l2"/></label><label name="l3"/></labels>
"""


def test_mulan(put, tmp_path):
    """Labels by the xml file: given, found by name, or named one by one."""
    right = [[-1, -1, 1], [1, 1, 0]]
    path = put("a-train.arff", MULAN)
    assert read_file(path).labels is None
    xml = put("elsewhere.xml", XML)
    for name in ("a.xml", "a-train.xml", None):
        if name:
            put(name, XML)
        content = read_file(path, labels=None if name else xml)
        assert content.labels.names == ["l 1", "l2", "l3"]
        np.testing.assert_array_equal(content.labels.signs, right)
        np.testing.assert_array_equal(content.labels.weights, np.abs(right))
        assert content.names == ["a"]
        (tmp_path / "a.xml").unlink(missing_ok=True)
        (tmp_path / "a-train.xml").unlink(missing_ok=True)
    named = read_file(path, labels=["l2"])
    assert named.names == ["a", "l 1", "l3"]
    np.testing.assert_array_equal(named.labels.signs, [[-1], [1]])
    put("a.xml", "<model/>")
    assert read_file(path).labels is None
    sparse = put("s.arff", MULAN.partition("@data")[0] + "@data\n{1 5, 2 0, 3 1}\n{0 1, 1 6, 3 ?}\n")
    content = read_file(sparse, labels=xml)
    np.testing.assert_array_equal(content.labels.signs, right)
    np.testing.assert_array_equal(content.matrix.toarray(), [[5], [6]])


MULAN_ERRORS = {
    "not xml": ("hello", r"l\.xml, line 1: this is not xml"),
    "other xml": ("<model/>", "outermost element is <model>"),
    "no labels": ("<labels/>", "no <label> in it"),
    "no name": ("<labels><label/></labels>", "has no name"),
    "twice": ('<labels><label name="l2"/><label name="l2"/></labels>', "'l2' is there twice"),
    "unknown": ('<labels><label name="l9"/></labels>', "names the label 'l9', but there is no such attribute"),
}


@pytest.mark.parametrize("kind", MULAN_ERRORS)
def test_mulan_errors(put, kind):
    text, message = MULAN_ERRORS[kind]
    with pytest.raises(FileError, match=message):
        read_file(put("a.arff", MULAN), labels=put("l.xml", text))


def test_mulan_errors_of_values(put, tmp_path):
    with pytest.raises(FileError, match="line 7: the label 'l3' must be 0 or 1 but here is 2"):
        read_file(put("a.arff", MULAN.replace("1,6,1,?", "1,6,1,2")), labels=["l3"])
    with pytest.raises(FileError, match=r"line 1: the label 'l2' must be declared \{0, 1\}"):
        read_file(put("a.arff", MULAN.replace("l2 {0,1}", "l2 {0,1,2}")), labels=["l2"])
    for names in ([], ["l2", "l2"]):
        with pytest.raises(FileError, match="labels= must name each label once and at least one"):
            read_file(put("a.arff", MULAN), labels=names)
    with pytest.raises(FileError, match="every attribute is a label"):
        read_file(put("a.arff", MULAN), labels=["l2", "a", "l 1", "l3"])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_file(put("a.arff", MULAN), labels=tmp_path / "nowhere.xml")


HEAD = "@relation r\n@attribute a real\n@attribute c {u,'v w'}\n@attribute t string\n@data\n"
ARFF_ERRORS = {
    "empty": ("", "the file is empty"),
    "header only": (HEAD, "no rows of data"),
    "comments only": (HEAD + "% one\n\n", "no rows of data"),
    "no data": ("@attribute a real\n", "no @data line"),
    "no attribute": ("@relation r\n@data\n1\n", "no @attribute before @data"),
    "blank": ("\n \n% c\n", "no @data line"),
    "csv": ("a,b\n1,2\n", "line 1: 'a,b' is neither"),
    "not a header": ("@relation r\nhello\n@data\n1\n", "line 2: 'hello' is neither @relation, @attribute nor @data"),
    "unknown keyword": ("@attr a real\n@data\n1\n", "line 1: '@attr a real' is neither"),
    "unknown type": ("@attribute a complex\n@data\n1\n", "line 1: attribute 'a' has the type 'complex'; known are"),
    "relational": ("@attribute a relational\n@data\n1\n", "line 1: attribute 'a' has the type 'relational'"),
    "no type": ("@attribute a\n@data\n1\n", "line 1: an attribute needs a name and a type"),
    "brace that does not close": ("@attribute a {u,v\n@data\nu\n", "line 1: the values of attribute 'a' are not in"),
    "empty category": ("@attribute a {u,,v}\n@data\nu\n", "line 1: the values of attribute 'a' are not in"),
    "category twice": ("@attribute a {u,u}\n@data\nu\n", "line 1: attribute 'a' declares 'u' twice"),
    "two of one name": (
        "@attribute a real\n@attribute 'a' real\n@data\n1,2\n",
        "line 2: two attributes are called 'a'",
    ),
    "too few values": (HEAD + "1,u,x\n% c\n2,u\n", "line 8: 2 values where 3 attributes are declared"),
    "too many values": (HEAD + "1,u,x\n2,u,x,y\n", "line 7: 4 values where 3"),
    "text among numbers": (HEAD + "1,u,x\nabc,u,x\n", "line 7: attribute 'a' is numeric but here is 'abc'"),
    "quoted ? among numbers": (HEAD + "'?',u,x\n", "line 6: attribute 'a' is numeric but here is '\\?'"),
    "undeclared": (HEAD + "1,u,x\n2,w,x\n", r"line 7: attribute 'c' has the undeclared value 'w'; declared are u, v w"),
    "empty value": (HEAD + "1,u,\n", "line 6: attribute 't' has an empty value; write \\? for a missing one"),
    "empty number": (HEAD + ",u,x\n", "line 6: attribute 'a' has an empty value"),
    "quote that does not close": (HEAD + "1,u,'x\n2,u,y'\n", "line 6: a quote or brace does not close"),
    "text after a quote": (HEAD + "1,'u'x,y\n", "line 6: a quote or brace does not close"),
    "not UTF-8": (HEAD.encode() + b"1,u,\xff\n", "line 6: the byte 0xff is not UTF-8"),
    "sparse text": (HEAD + "{0 1}\n", "line 4: attribute 't' is text, which sparse rows cannot hold"),
    "label weights of no class": (HEAD + "1,{u 1},x\n", "line 6: attribute 'c' has the undeclared value"),
}
SPARSE_HEAD = "@attribute a real\n@attribute class {u,v}\n@data\n"
SPARSE_ERRORS = {
    "number too large": ("{2 1}", "line 4: '2' is not an attribute's number; they go from 0 to 1"),
    "negative number": ("{-1 1}", "line 4: '-1' is not an attribute's number"),
    "number that is none": ("{x 1}", "line 4: 'x' is not an attribute's number"),
    "number twice": ("{0 1, 0 2}", "line 4: attribute number 0 is there twice"),
    "no value": ("{0}", "line 4: a sparse row has the form"),
    "brace that does not close": ("{0 1", "line 4: a sparse row has the form"),
    "class in and after the braces": ("{1 u},u", "line 4: attribute number 1 is there twice"),
    "undeclared": ("{1 w}", "line 4: attribute 'class' has the undeclared value 'w'"),
    "undeclared label": ("1,{u 1}\n1,{w 1}", "line 5: the label 'w' is not declared"),
    "label twice": ("1,{u 1, u -1}", "line 4: the label 'u' is there twice"),
    "weight that is none": ("1,{u x}", "line 4: the weight 'x' of label 'u' is not a number"),
    "infinite weight": ("1,{u inf}", "line 4: the weight 'inf' of label 'u' is not a number"),
    "no weight": ("1,{u 1}\n2,u", "line 5: labels have the form {label weight, label weight}, here is 'u'"),
    "sparse row without labels": ("{0 1},{u 1}\n{0 1}", "line 5: labels have the form .* here is 'nothing'"),
}


@pytest.mark.parametrize("kind", [*ARFF_ERRORS, *SPARSE_ERRORS])
def test_arff_errors(put, kind):
    text, message = ARFF_ERRORS[kind] if kind in ARFF_ERRORS else (None, SPARSE_ERRORS[kind][1])
    path = put("a.arff", SPARSE_HEAD + SPARSE_ERRORS[kind][0] if text is None else text)
    with pytest.raises(FileError, match=message):
        read_file(path)
    with pytest.raises(FileError, match=message):
        list(read_batches(path))


def test_arff_infinite_signed_weight(put):
    text = "@attribute a real\n@attribute class1 real\n@attribute class2 real\n@data\n% c\n1,1,1\n1,inf,2\n"
    with pytest.raises(FileError, match="line 7: the weight of label '1' is infinite"):
        read_file(put("a.arff", text))


VALUE = st.sampled_from(
    [
        "1",
        "-2.5",
        "1e400",
        "+3",
        ".5",
        "5.",
        "nan",
        "Inf",
        "?",
        "'?'",
        "'4'",
        "u",
        "'u'",
        "v w",
        "'v w'",
        '"v w"',
        "w",
        "",
    ]
    + [
        "'a\\'b'",
        "'x",
        "x'",
        "'a'b",
        "{u 1}",
        "50%",
        "% c",
        " 1 ",
        "\tu",
        "don't",
        "'a,b'",
        "''",
        "1 2",
        "0x1F",
        "1_0",
        "é",
        "'",
    ]
)


@given(st.lists(st.lists(VALUE, min_size=1, max_size=4).map(",".join), min_size=1, max_size=8))
@example(["1,?,'x"])
@settings(QUICK, max_examples=150)
def test_arff_fast_and_careful_paths_agree(tmp_path, rows):
    """Whatever a block holds, both ways of reading it give the same columns or the same error."""
    from multiboost.files.arff import ArffReader

    path = tmp_path / "a.arff"
    head = "@attribute a real\n@attribute c {u,'v w','?'}\n@attribute t string\n@data\n"
    path.write_text(head + "\n".join(rows) + "\n")

    def outcome():
        try:
            content = read_file(path)
        except FileError as error:
            return str(error)
        return repr(content.table.to_pydict()) if content.table is not None else repr(content.matrix.toarray())

    either = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArffReader, "_fast", lambda self, block: None)
        assert outcome() == either


def test_arff_blocks(tmp_path, monkeypatch):
    """Blocks that end anywhere, within the header too, change nothing; error lines stay right."""
    import multiboost.files.source as source

    path = tmp_path / "a.arff"
    path.write_text(ARFF.replace("\n", "\r\n"))
    right = read_file(path)
    blocks = source.Source.blocks
    for size in (1, 2, 3, 7, 50, 333):
        monkeypatch.setattr(source.Source, "blocks", lambda self, size=size: blocks(self, size))
        same(read_file(path), right)
        path.write_text(HEAD + "1,u,x\n" * 100 + "2,w,x\n")
        with pytest.raises(FileError, match=r"line 106: .*undeclared value 'w'"):
            read_file(path)
        path.write_text(ARFF.replace("\n", "\r\n"))


def naive_arff(path):
    """Counts of rows and attributes by a plain look at the lines."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line and not line.startswith("%")]
    start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    attributes = [line for line in lines[:start] if line.lower().startswith("@attribute")]
    return attributes, lines[start + 1 :]


def test_all_shared_arff_files():
    """58 classification and 7 regression sets: rows, attributes, missing values, categories."""
    paths = sorted([*shared_data("arff", "classification").iterdir(), *shared_data("arff", "regression").iterdir()])
    assert len(paths) >= 58
    for path in paths:
        content = read_file(path)
        attributes, rows = naive_arff(path)
        assert (content.n_rows, len(content.names)) == (len(rows), len(attributes)), path.name
        assert content.labels is None
        nominal = [a for a in attributes if "{" in a]
        assert len(content.declared) == len(nominal)
        # A bare ? between commas is missing; no category of these files has a comma in it.
        missing = sum(v.strip() == "?" for row in rows for v in row.split("%")[0].split(","))
        assert sum(c.null_count for c in content.table.columns) == missing, path.name


@pytest.mark.parametrize("name", ["iris", "glass", "vote", "diabetes", "wine"])
def test_arff_against_scipy(name):
    """scipy's reader where it can read the file at all."""
    from scipy.io import arff

    path = shared_data("arff", "classification", f"{name}.arff")
    theirs, _ = arff.loadarff(path)
    content = read_file(path)
    for ours, field in zip(content.names, theirs.dtype.names, strict=True):
        column = content.table.column(ours)
        if theirs[field].dtype.kind == "f":
            np.testing.assert_array_equal(column.to_numpy(), theirs[field])
        else:
            assert [v or "?" for v in column.to_pylist()] == [v.decode() for v in theirs[field]]


MULAN_SETS = {
    "yeast": (1500, 917, 103, 14),
    "scene": (1211, 1196, 294, 6),
    "emotions": (391, 202, 72, 6),
    "birds": (322, 323, 260, 19),
    "flags": (129, 65, 19, 7),
}


@pytest.mark.parametrize("name", MULAN_SETS)
def test_mulan_sets(name):
    folder = shared_data("mulan", name)
    n_train, n_test, n_columns, n_labels = MULAN_SETS[name]
    for part, n_rows in (("train", n_train), ("test", n_test)):
        path = next(folder.glob(f"{name}-{part}.arff*"))
        content = read_file(path)
        attributes, rows = naive_arff(path)
        assert (content.n_rows, len(content.names)) == (n_rows, n_columns) == (len(rows), len(attributes) - n_labels)
        xml = (folder / f"{name}.xml").read_text()
        assert len(content.labels.names) == n_labels == xml.count("<label ")
        # The labels are the last attributes of these files; counted in the text itself.
        order = [a.split(None, 1)[1].rsplit("{", 1)[0].strip().strip("'\"").replace("\\'", "'") for a in attributes]
        positive = np.zeros(len(attributes), int)
        for row in rows:
            positive += [v.strip().strip("'") == "1" for v in row.split(",")]
        right = [positive[order.index(label)] for label in content.labels.names]
        assert (content.labels.signs == 1).sum(axis=0).tolist() == right
        assert (content.labels.signs != 0).all()


# The reference data, in every form


def arrays(name: str):
    with np.load(reference("data", f"{name}.npz")) as file:
        return {k: file[k] for k in file.files}


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "letter", "pendigits", "wine", "nominal"])
def test_reference_arff(name, part):
    right = arrays(name)
    content = read_file(reference("data", f"{name}-{part}.arff.gz"))
    y = content.table.column("class").to_pylist()
    assert y == [str(c) for c in right[f"y_{part}"]]
    X = right[f"X_{part}"]
    for j, column in enumerate(content.names[:-1]):
        if name == "nominal":
            found = content.table.column(column).to_pylist()
            assert found == [content.declared[column][v] for v in X[:, j]]
        else:
            np.testing.assert_array_equal(content.table.column(column).to_numpy(), X[:, j].astype(np.float32))


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("name", ["digits", "pendigits"])
def test_reference_svmlight_and_simple_text(name, part):
    right = arrays(name)
    X, y = right[f"X_{part}"], right[f"y_{part}"]
    content = read_file(reference("data", f"{name}-{part}.svm.gz"), n_features=X.shape[1])
    np.testing.assert_array_equal(content.matrix.toarray(), X)
    np.testing.assert_array_equal(content.labels.classes, y)
    simple = read_file(reference("data", f"{name}-{part}.txt.gz"))
    np.testing.assert_array_equal(simple.matrix, X)
    assert simple.labels.classes.tolist() == [str(c) for c in y]
    same(simple, joined(reference("data", f"{name}-{part}.txt.gz"), 333))


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("form", ["multilabel", "multilabel-ext"])
def test_reference_labels(form, part):
    """Both of MultiBoost's forms hold the same labels."""
    right = arrays("multilabel")
    content = read_file(reference("data", f"{form}-{part}.arff.gz"))
    assert content.labels.names == ["L0", "L1", "L2", "L3", "L4"]
    np.testing.assert_array_equal(content.labels.signs, 2 * right[f"Y_{part}"] - 1)
    np.testing.assert_array_equal(content.labels.weights, np.ones_like(content.labels.weights))
    found = np.stack([c.to_numpy() for c in content.table.columns], axis=1)
    np.testing.assert_array_equal(found, right[f"X_{part}"])


# Svmlight


def test_svmlight_by_hand(put):
    text = "# head\n+1 1:0.5 4:-2e3 # docid = 3:4\n\n-1 2:nan 3:inf\n1\n-1  3:0\t4:7 \n"
    content = read_file(put("a.svm", text))
    right = [[0.5, 0, 0, -2000], [0, np.nan, np.inf, 0], [0, 0, 0, 0], [0, 0, 0, 7]]
    np.testing.assert_array_equal(content.matrix.toarray(), right)
    assert content.labels.classes.tolist() == [1, -1, 1, -1]
    assert content.labels.classes.dtype == np.int64
    assert list(content.names) == ["f1", "f2", "f3", "f4"]
    assert content.groups is None
    same(content, joined(put("a.svm", text), 1))


def test_svmlight_first_index(put):
    """0-based where an index 0 occurs, in whichever line."""
    content = read_file(put("a.svm", "1 1:5\n2 0:6\n"))
    np.testing.assert_array_equal(content.matrix.toarray(), [[0, 5], [6, 0]])
    assert list(content.names) == ["f0", "f1"]
    zero = read_file(put("a.svm", "1 1:5\n"), zero_based=True, n_features=4)
    np.testing.assert_array_equal(zero.matrix.toarray(), [[0, 5, 0, 0]])
    with pytest.raises(FileError, match="line 2: the index 0 is not between 1 and 1"):
        read_file(put("a.svm", "1 1:5\n2 0:6\n"), zero_based=False)
    with pytest.raises(FileError, match="line 1: the index 5 is not between 1 and 3"):
        read_file(put("a.svm", "1 1:5 5:1\n"), n_features=3)
    with pytest.raises(FileError, match="zero_based must be"):
        read_file(put("a.svm", "1 1:5\n"), zero_based="maybe")


def test_svmlight_labels(put):
    real = read_file(put("a.svm", "0.5 1:1\n2 1:1\n"))
    assert real.labels.classes.tolist() == [0.5, 2.0]
    many = read_file(put("a.svm", "3,10 1:1\n 1:2\n10 1:3\n"))
    assert many.labels.names == ["3", "10"]
    assert many.labels.signs.tolist() == [[1, 1], [-1, -1], [-1, 1]]
    assert many.labels.weights.tolist() == [[1, 1]] * 3
    same(many, joined(put("a.svm", "3,10 1:1\n 1:2\n10 1:3\n"), 1))
    assert read_file(put("a.svm", "1:2\n1:3\n")).labels is None
    with pytest.raises(FileError, match="line 2: this line has no label but others have one; multilabel=True"):
        read_file(put("a.svm", "1 1:2\n1:3\n"))
    assert read_file(put("a.svm", "1 1:2\n1:3\n"), multilabel=True).labels.signs.tolist() == [[1], [-1]]
    with pytest.raises(FileError, match="several labels"):
        read_file(put("a.svm", "1,2 1:2\n"), multilabel=False)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("multilabel", [True, False])
def test_svmlight_against_sklearn(tmp_path, zero_based, multilabel):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    rng = np.random.default_rng(3)
    X = sp.random(200, 30, 0.2, "csr", random_state=rng)
    y = rng.integers(0, 2, (200, 4)) if multilabel else rng.integers(-3, 3, 200)
    groups = np.sort(rng.integers(0, 20, 200))
    path = str(tmp_path / "a.svm")
    dump_svmlight_file(
        X, y, path, zero_based=zero_based, comment="made for a test", query_id=groups, multilabel=multilabel
    )
    theirs, labels, qid = load_svmlight_file(path, query_id=True, multilabel=multilabel)
    content = read_file(path)
    np.testing.assert_array_equal(content.matrix.toarray(), theirs.toarray())
    np.testing.assert_array_equal(content.groups, qid)
    if multilabel:
        for row, label in zip(content.labels.signs, labels, strict=True):
            assert np.flatnonzero(row > 0).tolist() == list(label)
    else:
        np.testing.assert_array_equal(content.labels.classes, labels)
    same(content, joined(path, 33))


def test_svmlight_letor():
    from sklearn.datasets import load_svmlight_file

    path = shared_data("letor4_mq2008", "S1.txt.gz")
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    content = read_file(path, format="svmlight")
    np.testing.assert_array_equal(content.matrix.toarray(), X.toarray())
    np.testing.assert_array_equal(content.labels.classes, y)
    np.testing.assert_array_equal(content.groups, qid)


SVM_ERRORS = {
    "empty": ("", "no rows of data"),
    "comments only": ("# a\n\n", "no rows of data"),
    "label that is none": ("1 1:2\nx 1:2\n", "line 2: the label 'x' is not a number"),
    "label nan": ("nan 1:2\n", "line 1: the label 'nan' is not a number"),
    "empty label": ("1,,2 1:2\n", "line 1: the label '' is not a number"),
    "label twice": ("1,1 1:2\n", "line 1: a label is there twice"),
    "negative index": ("1 -1:2\n", "line 1: the index '-1' is not a whole number from 0 on"),
    "index with a point": ("1 1.0:2\n", "line 1: the index '1.0' is not a whole number"),
    "index too large": ("1 99999999999:2\n", "line 1: the index '99999999999' is larger than 2147483646"),
    "index twice": ("1 1:2\n1 2:2 2:3\n", "line 2: the index 2 is there twice"),
    "falling index": ("1 1:2\n\n1 2:2 1:3\n", "line 3: the index 1 comes after 2; indices must rise along a line"),
    "value that is none": ("1 1:x\n", "line 1: the value 'x' of index 1 is not a number"),
    "no value": ("1 1:\n", "line 1: the value '' of index 1 is not a number"),
    "two colons": ("1 3:4:5 6\n", "line 1: the value '4:5' of index 3 is not a number"),
    "no colon": ("1 3:4 5\n", "line 1: '5' has not the form index:value"),
    "grouped digits": ("1 3:1_000\n", "line 1: the value '1_000' of index 3"),
    "bad qid": ("1 qid:x 3:4\n", "line 1: the qid 'x' is not a whole number"),
    "qid in some lines": ("1 qid:1 3:4\n1 3:4\n", "line 2: some lines have a qid and others"),
    "not UTF-8": (b"1 1:2\n1 \xff:2\n", "line 2: the byte 0xff is not UTF-8"),
}


@pytest.mark.parametrize("kind", SVM_ERRORS)
def test_svmlight_errors(put, kind):
    text, message = SVM_ERRORS[kind]
    path = put("a.svm", text)
    with pytest.raises(FileError, match=message):
        read_file(path)
    with pytest.raises(FileError, match=message):
        list(read_batches(path))


WORD = st.sampled_from(
    [
        "1",
        "-1",
        "+2",
        "1,2",
        "nan",
        "1:2",
        "2:3",
        "3:-.5e1",
        "7:nan",
        "qid:3",
        "#",
        "# 1:2",
        "1:",
        ":1",
        "1:2:3",
        "x",
        "1_0",
        "0:1",
    ]
    + ["1.0:2", "٣:1", "3:1_0", "\x00", "\t", "\x0b", "inf", "5:inf", "99999999999:1"]
)


@given(st.lists(st.lists(WORD, max_size=5).map(" ".join), min_size=1, max_size=6))
@settings(QUICK, max_examples=150)
def test_svmlight_fast_and_careful_paths_agree(tmp_path, lines):
    from multiboost.files.svmlight import SvmlightReader

    path = tmp_path / "a.svm"
    path.write_text("\n".join(lines))

    def outcome():
        try:
            content = read_file(path)
        except FileError as error:
            return str(error)
        labels = None if content.labels is None else (content.labels.classes, content.labels.signs)
        m = content.matrix
        return repr((m.shape, m.indptr.tolist(), m.indices.tolist(), m.data.tolist(), labels, content.groups))

    either = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SvmlightReader, "_fast", lambda self, block, first: None)
        assert outcome() == either


def test_svmlight_huge_index_costs_nothing(put):
    content = read_file(put("a.svm", "1 2147483646:1\n"))
    assert content.matrix.shape == (1, 2147483646)
    assert content.names[-1] == "f2147483646"
    assert content.names[1:3] == ["f2", "f3"]


# Simple text


def test_simple_text_class_last(put):
    content = read_file(put("a.txt", "1 2 u\n\n? nan vé\n"), class_last=True)
    np.testing.assert_array_equal(content.matrix, [[1, 2], [np.nan, np.nan]])
    assert content.labels.classes.tolist() == ["u", "vé"]


SIMPLE_ERRORS = {
    "empty": (" \n", "no rows of data"),
    "class only": ("\nu\n", "line 2: a row needs a class and at least one number"),
    "ragged": ("u 1 2\nv 1\n", "line 2: 2 words where 3 are expected"),
    "no number": ("u 1 2\n\nv 1 x\n", "line 3: 'x' is not a number"),
    "grouped digits": ("u 1_0\n", "line 1: '1_0' is not a number"),
    "svmlight": ("1 1:2\n", "line 1: '1:2' is not a number; for svmlight say format='svmlight'"),
}


@pytest.mark.parametrize("kind", SIMPLE_ERRORS)
def test_simple_text_errors(put, kind):
    text, message = SIMPLE_ERRORS[kind]
    path = put("a.txt", text)
    with pytest.raises(FileError, match=message):
        read_file(path)
    with pytest.raises(FileError, match=message):
        list(read_batches(path))


# Sources


def test_kind_by_suffix_or_name(put):
    path = put("x.data", "a,b\n1,2\n")
    with pytest.raises(FileError, match=r"unknown suffix '\.data'; known are \.csv, .*\.arff.*or say format="):
        read_file(path)
    assert read_file(path, format="CSV").n_rows == 1
    with pytest.raises(FileError, match="unknown format 'xls'; known are csv, tsv"):
        read_file(path, format="xls")
    with pytest.raises(FileError, match=r"unknown suffix ''"):
        read_file(put("x.gz", "a"))
    assert read_file(put("X.CSV.GZ".lower(), "a\n1\n")).n_rows == 1
    with pytest.raises(TypeError, match="csv files take options header, delimiter, types, missing, text, not 'labels'"):
        read_file(put("x.csv", "a\n1\n"), labels=["a"])
    with pytest.raises(ValueError, match="rows must be at least 1"):
        read_batches(put("x.csv", "a\n1\n"), rows=0)


def test_folder_missing_file_and_permission(tmp_path, put):
    with pytest.raises(FileError, match="this is a folder, not a file"):
        read_file(tmp_path, format="csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_file(tmp_path / "nowhere.csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_batches(tmp_path / "nowhere.csv")  # at once, not with the first batch
    with pytest.raises(FileNotFoundError, match=r"No such file or folder.*nowhere"):
        read_file(tmp_path / "nowhere")
    path = put("secret.csv", "a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(PermissionError, match="secret"):
        read_file(path)


def test_no_permission(put, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "secret.csv")

    path = put("secret.csv", "a\n1\n")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError, match="secret"):
        read_file(path)


TEXTS = {
    "csv": "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(3000)),
    "arff": "@attribute a real\n@data\n" + "".join(f"{i * i}\n" for i in range(3000)),
    "svm": "".join(f"{i % 3} 1:{i} 5:{i * i}\n" for i in range(3000)),
    "txt": "".join(f"c{i % 3} {i} {i * i}\n" for i in range(3000)),
}


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("format", TEXTS)
def test_compressed_files(put, format, suffix):
    """The same rows; a file that was cut short or altered is refused; members may follow each other."""
    plain = put(f"a.{format}", TEXTS[format])
    path = put(f"a.{format}{suffix}", TEXTS[format])
    same(read_file(plain), read_file(path))
    same(joined(plain, 700), joined(path, 700))
    data = path.read_bytes()
    for cut in (data[:-1], data[: len(data) // 2], data[:4]):
        path.write_bytes(cut)
        with pytest.raises(FileError, match=r"cut short|not whole"):
            read_file(path)
        with pytest.raises(FileError, match=r"cut short|not whole"):
            list(read_batches(path))
    path.write_bytes(data[:40] + bytes([data[40] ^ 0xFF]) + data[41:])
    with pytest.raises(FileError, match=r"cut short|not whole"):
        read_file(path)
    path.write_text("not compressed at all")
    with pytest.raises(FileError, match="not whole"):
        read_file(path)
    half = len(TEXTS[format]) // 2
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    path.write_bytes(compress(TEXTS[format][:half].encode()) + compress(TEXTS[format][half:].encode()))
    same(read_file(plain), read_file(path))
    path.rename(plain)  # compressed, but the name does not say so
    assert read_file(plain).n_rows == 3000


def test_standard_input(monkeypatch, frame, tmp_path):
    def stdin(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    for format, text in TEXTS.items():
        name = {"svm": "svmlight", "txt": "simple"}.get(format, format)
        for data in (text.encode(), gzip.compress(text.encode())):
            stdin(data)
            assert read_file("-", format=name).n_rows == 3000
            stdin(data)
            assert sum(b.n_rows for b in read_batches("-", format=name, rows=999)) == 3000
    for format in ("parquet", "arrow"):
        write_table(frame, tmp_path / f"a.{format}")
        stdin((tmp_path / f"a.{format}").read_bytes())
        assert read_file("-", format=format).table.to_pydict() == frame.to_pydict()
    with pytest.raises(FileError, match="standard input and output have no suffix: say format="):
        read_file("-")
    stdin(b"a,b\n1\n")
    with pytest.raises(FileError, match="standard input, line 2: 1 fields where 2"):
        read_file("-", format="csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("format", TEXTS)
def test_reading_from_a_pipe(tmp_path, format):
    """Bytes that come only once can be read, in batches too."""
    path = tmp_path / f"p.{format}"
    os.mkfifo(path)
    for read in (lambda: read_file(path).n_rows, lambda: sum(b.n_rows for b in read_batches(path))):
        thread = threading.Thread(target=lambda: path.write_text(TEXTS[format]))
        thread.start()
        assert read() == 3000
        thread.join(10)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_writing_to_a_pipe(tmp_path):
    """A pipe stays a pipe."""
    os.mkfifo(tmp_path / "p.csv")
    found = []
    thread = threading.Thread(target=lambda: found.append((tmp_path / "p.csv").read_bytes()))
    thread.start()
    write_table({"a": [1, 2]}, tmp_path / "p.csv")
    thread.join(10)
    assert found == [b'"a"\n1\n2\n']


@pytest.mark.parametrize("format", ["csv", "arff", "svm", "txt"])
def test_memory_of_batches_does_not_grow(tmp_path, format):
    """A file many times larger needs no more memory when read in batches."""
    import tracemalloc

    rows = {
        "csv": "1.5,abc,{}\n",
        "arff": "1.5,{}\n",
        "svm": "1 1:2.5 2:{}\n",
        "txt": "c 1.5 {}\n",
    }[format]
    head = {"csv": "a,b,c\n", "arff": "@attribute a real\n@attribute b real\n@data\n"}.get(format, "")
    peaks = []
    for n in {"csv": (60_000, 240_000)}.get(format, (1_500, 15_000)):  # the csv parser reads some blocks ahead
        path = tmp_path / f"a.{format}.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write(head + "".join(rows.format(i) for i in range(n)))
        import multiboost.files.delimited as delimited
        import multiboost.files.source as source

        blocks = source.Source.blocks
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source.Source, "blocks", lambda self: blocks(self, 1 << 13))
            patch.setattr(delimited, "_BLOCK", 1 << 13)
            before = pa.total_allocated_bytes()
            most = 0
            tracemalloc.start()
            for batch in read_batches(path, rows=500):
                most = max(most, pa.total_allocated_bytes() - before)
                assert batch.n_rows == 500
            peaks.append(tracemalloc.get_traced_memory()[1] + most)
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 1e5


# Writing


def matrix_content(sparse: bool, kind: str) -> Content:
    rng = np.random.default_rng(5)
    X = np.where(rng.random((60, 5)) < 0.6, rng.normal(size=(60, 5)).round(3), 0.0)
    X[3, 2], X[0, 4] = np.nan, -1.25
    signs = rng.integers(-1, 2, (60, 3)).astype(np.int8)
    labels = {
        "numbers": Labels(rng.integers(0, 3, 60)),
        "text": Labels(np.array(["u", "v v", "w's"], object)[rng.integers(0, 3, 60)]),
        "words": Labels(np.array(["u", "v", "wé"], object)[rng.integers(0, 3, 60)]),
        "signs": Labels(None, ["0", "1", "2"], np.where(signs == 0, 1, signs), np.ones((60, 3))),
        "weights": Labels(None, ["l", "m n", "o"], signs, np.abs(signs * rng.random((60, 3)))),
    }[kind]
    return Content(
        "made", "svmlight", [f"f{j}" for j in range(1, 6)], matrix=sp.csr_array(X) if sparse else X, labels=labels
    )


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("kind", ["numbers", "text", "words", "signs", "weights"])
@pytest.mark.parametrize("suffix", ["arff", "arff.gz", "svm", "svm.xz", "txt", "txt.bz2", "csv", "parquet"])
def test_round_trip_of_labels(tmp_path, sparse, kind, suffix):
    """Labels and numbers survive where the format can hold them; else a sentence says why not."""
    content = matrix_content(sparse, kind)
    path = tmp_path / f"a.{suffix}"
    able = {
        "arff": ("numbers", "text", "words", "signs", "weights"),
        "svm": ("numbers", "signs"),
        "txt": ("numbers", "words"),
        "csv": ("numbers", "text", "words", "signs"),
        "parquet": ("numbers", "text", "words", "signs"),
    }[suffix.partition(".")[0]]
    if kind not in able:
        with pytest.raises(FileError, match=r"cannot hold|labels are numbers|needs one class"):
            write_table(content, path)
        assert list(tmp_path.iterdir()) == []
        return
    write_table(content, path)
    found = read_file(path)
    X = content.matrix.toarray() if sparse else content.matrix
    if found.matrix is not None:
        dense = found.matrix.toarray() if sp.issparse(found.matrix) else found.matrix
        np.testing.assert_array_equal(dense[:, :5], X)
    else:
        for j in range(5):
            np.testing.assert_array_equal(found.table.column(j).to_numpy(), X[:, j])
    if found.labels is None:
        assert suffix.startswith(("csv", "parquet")) or kind in ("numbers", "text", "words")
        return
    if content.labels.classes is not None:
        assert [str(c) for c in found.labels.classes] == [str(c) for c in content.labels.classes]
    else:
        assert found.labels.names == content.labels.names
        np.testing.assert_array_equal(found.labels.signs, content.labels.signs)
        np.testing.assert_array_equal(found.labels.weights, content.labels.weights)


@pytest.mark.parametrize("format", ["arff", "svm"])
def test_what_was_read_is_written_and_read_again(tmp_path, put, format):
    texts = {
        "arff": "@attribute a real\n@attribute b {n,'y y'}\n@data\n{0 3}\n{1 'y y'}\n{0 ?}\n",
        "svm": "1 qid:3 1:0.1 7:1e-300\n0 qid:4 2:nan\n",
    }
    content = read_file(put(f"a.{format}", texts[format]))
    write_table(content, tmp_path / f"b.{format}")
    again = read_file(tmp_path / f"b.{format}")
    assert list(again.names) == list(content.names)
    same(content, again)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=12))
@QUICK
def test_any_text_survives_in_arff(tmp_path, values):
    """Text of any characters, as values, categories and names; also in csv where it is not empty."""
    categories = list(dict.fromkeys(values))
    codes = pa.array([categories.index(v) for v in values], pa.int32())
    table = pa.table({"t" + values[0]: values, "c": pa.DictionaryArray.from_arrays(codes, categories)})
    write_table(table, tmp_path / "a.arff")
    content = read_file(tmp_path / "a.arff")
    assert repr(content.table.to_pydict()) == repr(table.to_pydict())
    assert content.declared["c"] == categories
    write_table(table, tmp_path / "a.csv")
    forced = read_file(tmp_path / "a.csv", types=dict.fromkeys(table.column_names, "text"))
    assert forced.table.column(1).to_pylist() == [v or None for v in values]


def test_svmlight_label_names(tmp_path):
    signs = np.array([[1, -1], [-1, -1], [1, 1]], np.int8)
    content = Content("made", "svmlight", ["f1"], matrix=np.array([[1.0], [0.0], [2.0]]))
    write_table(replace(content, labels=Labels(None, ["3", "10"], signs, np.ones((3, 2)))), tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == "3 1:1\n 1:0\n3,10 1:2\n"
    found = read_file(tmp_path / "a.svm")
    assert found.labels.names == ["3", "10"]
    np.testing.assert_array_equal(found.labels.signs, signs)
    with pytest.raises(FileError, match="cannot hold the label name 'u'"):
        write_table(replace(content, labels=Labels(None, ["u", "v"], signs, np.ones((3, 2)))), tmp_path / "a.svm")


def test_data_frames_are_written(tmp_path):
    import pandas as pd
    import polars as pl

    for library in (pd, pl):
        frame = library.DataFrame({"a": [1, 2], "b": ["x", "y"]})
        for format in ("csv", "arff", "parquet"):
            write_table(frame, tmp_path / f"a.{format}")
            assert columns(read_file(tmp_path / f"a.{format}")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_text_of_other_types(tmp_path, suffix):
    """What polars writes: long strings and categories of long strings."""
    import polars as pl

    frame = pl.DataFrame({"t": ["x", None, "z"], "c": pl.Series(["u", "v", "u"], dtype=pl.Categorical)})
    writer = frame.write_parquet if suffix == ".parquet" else frame.write_ipc
    writer(tmp_path / f"a{suffix}")
    content = read_file(tmp_path / f"a{suffix}")
    assert columns(content) == {"t": ["x", None, "z"], "c": ["u", "v", "u"]}
    assert content.table.schema.field("t").type == pa.string()
    assert content.declared.get("c", ["u", "v"]) == ["u", "v"]


def test_csv_of_one_column_with_missing_values(tmp_path):
    for values in ([1.5, None, 2.0], ["a", None, "b"], [None, 1.0, None]):
        write_table({"a": values}, tmp_path / "a.csv")
        assert columns(read_file(tmp_path / "a.csv")) == {"a": values}


def test_write_errors(tmp_path, frame):
    with pytest.raises(FileError, match="unknown suffix"):
        write_table(frame, tmp_path / "a.xls")
    with pytest.raises(FileError, match="this is a folder"):
        write_table(frame, tmp_path, format="csv")
    with pytest.raises(FileError, match="svmlight needs labels"):
        write_table({"a": [1.0]}, tmp_path / "a.svm")
    with pytest.raises(FileError, match="holds numbers only, but column 't'"):
        write_table(frame.select(["x", "t"]), tmp_path / "a.svm")
    with pytest.raises(FileError, match="no rows to write"):
        write_table(frame.slice(0, 0), tmp_path / "a.csv")
    with pytest.raises(FileError, match="no table"):
        write_table({"a": [1, 2], "b": [1]}, tmp_path / "a.csv")
    with pytest.raises(FileError, match="cannot hold column 'l'"):
        write_table({"l": [[1, 2]]}, tmp_path / "a.arff")
    with pytest.raises(FileError, match="cannot hold column 'l'"):
        write_table({"l": [[1, 2]]}, tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_table(frame, tmp_path / "nowhere" / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_failing_write_leaves_the_old_file(tmp_path, frame, monkeypatch):
    path = tmp_path / "a.csv.gz"
    write_table(frame, path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        write_table(frame.slice(3), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    monkeypatch.undo()
    write_table(frame, path)
    assert path.read_bytes() == before, "equal tables are equal files"


def test_standard_output(capfdbinary):
    write_table({"a": [1, 2], "b": ["x", None]}, "-", format="csv")
    assert capfdbinary.readouterr().out == b'"a","b"\n1,"x"\n2,\n'


# The package


def test_importing_multiboost_imports_nothing_heavy():
    code = "import sys, multiboost; print([m for m in ('numpy', 'pyarrow', 'multiboost.files') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_without_pyarrow(put):
    """Formats that do not need it work; the others say how to get it in one sentence."""
    code = """
import sys
sys.modules["pyarrow"] = None
import json
from multiboost.files import read_file, read_batches
found = []
for name in sys.argv[1:]:
    try:
        found.append(read_file(name).n_rows)
        assert sum(b.n_rows for b in read_batches(name, rows=2)) == found[-1]
    except ImportError as error:
        found.append(str(error))
print(json.dumps(found))
"""
    sparse = "@attribute a real\n@data\n{0 1}\n{}\n{}\n"
    names = [put("a.svm", "1 1:2\n" * 3), put("a.txt", "u 1\n" * 3), put("s.arff", sparse), put("a.csv", "a\n1\n")]
    out = subprocess.run(
        [sys.executable, "-c", code, *map(str, names)], capture_output=True, text=True, check=True, env=os.environ
    )
    assert json.loads(out.stdout) == [3, 3, 3, 'csv files need pyarrow: pip install "multiboost[cli]"']


def test_formats_are_documented():
    text = (Path(__file__).resolve().parents[1] / "docs" / "files.md").read_text()
    from multiboost.files.source import COMPRESSIONS, SUFFIXES

    for word in (*FORMATS, *SUFFIXES, *COMPRESSIONS):
        assert f"`{word}`" in text, word


# Mutated bytes


SEEDS = {
    "csv": b'a,b,c\n1,"x, y",0.5\n2,NA,\n3,"q""r",1e5\n\n4,z,-1\n',
    "arff": ARFF.encode(),
    "svm": b"# c\n1 qid:1 1:0.5 3:2 # x\n-1 qid:2 2:1e3\n1,2 qid:2 7:nan\n",
    "txt": b"u 1 2.5\nv 3 ?\n",
}
SEEDS_MORE = [
    ("arff", SPARSE_HEAD.encode() + b"{0 1},{u 1, v -0.5}\n{},{u -1}\n"),
    ("arff", MULAN.encode()),
    ("arff", b"@attribute a real\n@attribute c {u,v}\n@data\n1,u\n2,'v'\n?,?\n"),
    ("svm", b"1 1:0.5 3:2\n2 2:1\n" * 5),
]
CHUNKS = [
    b"'",
    b'"',
    b"\\",
    b"{",
    b"}",
    b",",
    b"\n",
    b"\r",
    b"%",
    b"?",
    b" ",
    b"\t",
    b":",
    b"#",
    b"\x00",
    b"\xff",
    b"@data\n",
]
CHUNKS += [
    b"@attribute ",
    b"\xef\xbb\xbf",
    b"qid:",
    b"nan",
    b"1e999",
    b"9" * 30,
    b"-",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\\u",
    b"\\ud800",
]


@st.composite
def mutated(draw, seeds):
    """A file of some format with bytes put in, taken away and exchanged."""
    format, data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 0, 1, 1, 3, 20]))
        piece = draw(st.one_of(st.sampled_from(CHUNKS), st.binary(max_size=3), st.just(data[:15])))
        data = data[:at] + piece + data[at + length :]
    return format, data


def survive(path) -> None:
    """Read in both ways: only the promised errors, and the same outcome."""

    def outcome(read):
        try:
            return read()
        except FileError:
            return None

    whole = outcome(lambda: read_file(path))
    batches = outcome(lambda: joined(path, 3))
    assert (whole is None) == (batches is None)
    if whole is not None:
        same(whole, batches)


@given(mutated([*SEEDS.items(), *SEEDS_MORE]))
@settings(QUICK, max_examples=250)
def test_mutated_bytes(tmp_path, case):
    format, data = case
    path = tmp_path / f"a.{format}"
    path.write_bytes(data)
    survive(path)


@pytest.mark.parametrize(
    "text", ["{" * 50000, "'" * 50001, "'\\" * 30000, "," * 20000, " " * 50000 + "x", "{a " * 20000, "%" * 50000]
)
def test_reading_is_linear(put, text):
    """Long runs of special characters take no time, whether they are values or errors.

    Eight times the text takes at most twenty times as long, where a square would be 64 times.
    """
    heads = [HEAD, HEAD + "1,u,", SPARSE_HEAD, SPARSE_HEAD + "1,{u 1", "@attribute ", "@attribute a {"]

    def seconds(text):
        begin = time.process_time()
        for head in heads:
            survive(put("a.arff", head + text + "\n?,?,?\n@data\n1"))
        for format in ("csv", "svm", "txt"):
            survive(put(f"a.{format}", text + "\n" + text))
        return time.process_time() - begin

    seconds("x")  # what is imported or made once
    assert seconds(text) < 20 * seconds(text[: len(text) // 8]) + 0.5


@pytest.mark.parametrize("field", ["1.5", "x", ""])
def test_wide_csv_is_linear(put, field):
    """Eight times the columns take at most twenty times as long, where a square would be 64 times."""

    def seconds(n_columns):
        head = ",".join(f"c{j}" for j in range(n_columns))
        path = put("a.csv", head + "\n" + ",".join([field] * n_columns) + "\n" + ",".join(["x"] * n_columns) + "\n")
        begin = time.process_time()
        content = read_file(path)
        list(read_batches(path))
        write_table(content, path)
        return time.process_time() - begin

    seconds(10)
    assert seconds(8000) < 20 * seconds(1000) + 0.5
