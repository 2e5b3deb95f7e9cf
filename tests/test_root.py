"""ROOT files written by uproot itself, and selections beside NumPy."""

import json

import numpy as np
import pytest

from multiboost.files import FileError, read_batches, read_file, write_table
from multiboost.files.expression import Expression

from .exporting import package
from .test_cli import cli  # noqa: F401  a fixture

N = 5000


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    found = {
        "pt": rng.exponential(30, N),
        "eta": rng.normal(size=N).astype(np.float32),
        "n_jets": rng.integers(0, 5, N).astype(np.int32),
        "weight": rng.random(N),
        "is_signal": rng.random(N) < 0.3,
    }
    found["pt"][found["is_signal"]] += 20
    found["eta"][::50] = np.nan
    return found


@pytest.fixture(scope="module")
def path(columns, tmp_path_factory):
    uproot = package("uproot")
    path = tmp_path_factory.mktemp("root") / "events.root"
    with uproot.recreate(path) as file:
        write_tree(file, "events", columns)
        write_tree(file, "other", {"x": np.arange(3.0)})
        write_tree(file, "pairs", {"pt": np.arange(3.0), "jets": np.ones((3, 2))})
        file["name"] = "a text"
    return path


def write_tree(file, name, columns):
    """A TTree, whatever uproot writes by default."""
    tree = file.mktree(name, {key: (values.dtype, values.shape[1:]) for key, values in columns.items()})
    tree.extend(columns)


def test_a_tree(path, columns):
    content = read_file(f"{path}:events")
    assert content.names == list(columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(content.table.column(name).to_numpy(), values)


def test_branches_and_selection(path, columns):
    content = read_file(f"{path}:events", branches=["pt", "n_*"], where="pt > 20 && abs(eta) < 1.5 && !(n_jets == 2)")
    chosen = (columns["pt"] > 20) & (np.abs(columns["eta"]) < 1.5) & (columns["n_jets"] != 2)
    assert content.names == ["pt", "n_jets"]
    np.testing.assert_array_equal(content.table.column("pt").to_numpy(), columns["pt"][chosen])
    batches = list(read_batches(f"{path}:events", rows=700, branches="pt", where="pt > 20"))
    joined = np.concatenate([batch.table.column("pt").to_numpy() for batch in batches])
    np.testing.assert_array_equal(joined, columns["pt"][columns["pt"] > 20])


@pytest.mark.parametrize(
    ("inside", "options", "told"),
    [
        ("", {}, "say which tree, as in file.root:tree; it has events, other, pairs"),
        (":none", {}, "there is no tree 'none'"),
        (":name", {}, "'name' is a TObjString, not a flat tree"),
        (":events", {"branches": "jet*"}, r"no branch is called 'jet\*'; the tree has pt, eta"),
        (":events", {"where": "mass > 1"}, "the selection needs a branch 'mass'"),
        (":events", {"where": "pt"}, "is a number, not true or false"),
        (":events", {"where": "pt > 'a'"}, "compares text and numbers"),
        (":pairs", {}, "the branch 'jets' has not one number for each event"),
        (":events", {"where": "pt > 1e9"}, "no rows"),
    ],
)
def test_bad_input(path, inside, options, told):
    with pytest.raises(FileError, match=told):
        read_file(f"{path}{inside}", **options)


def test_the_only_tree_needs_no_name(tmp_path):
    uproot = package("uproot")
    with uproot.recreate(tmp_path / "one.root") as file:
        write_tree(file, "t", {"x": np.arange(3.0)})
    assert read_file(tmp_path / "one.root").table.column("x").to_pylist() == [0.0, 1.0, 2.0]


def test_damaged_files(path, tmp_path):
    whole = path.read_bytes()
    damaged = tmp_path / "d.root"
    for end in (0, 3, 100, len(whole) // 2):
        damaged.write_bytes(whole[:end])
        with pytest.raises(FileError, match=r"not a whole ROOT file|no tree 'events'"):
            read_file(f"{damaged}:events")
    with pytest.raises(FileNotFoundError):
        read_file(f"{tmp_path}/none.root:events")
    with pytest.raises(FileError, match="root files are read, not written"):
        write_table({"x": [1]}, tmp_path / "x.root")


class TestExpression:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x > 1", lambda x, y: x > 1),
            ("0 < x <= 2", lambda x, y: (x > 0) & (x <= 2)),
            ("x > 1 and y < 0 or not x < 3", lambda x, y: ((x > 1) & (y < 0)) | ~(x < 3)),
            ("(x + 2*y) / 3 - 1 >= -y", lambda x, y: (x + 2 * y) / 3 - 1 >= -y),
            ("x != 2 || y == 1", lambda x, y: (x != 2) | (y == 1)),
            ("!(x > 1)", lambda x, y: ~(x > 1)),
            ("sqrt(abs(x)) > log(2) && exp(y) < 3", lambda x, y: (np.sqrt(np.abs(x)) > np.log(2)) & (np.exp(y) < 3)),
            ("True", lambda x, y: np.ones(len(x), bool)),
        ],
    )
    def test_beside_numpy(self, text, expected):
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(2, 300)).round(1) * 3
        x[::7] = np.nan
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(Expression(text).chosen({"x": x, "y": y}, 300), expected(x, y))

    def test_columns(self):
        assert Expression("a > 1 && jet.pt < abs(b) + a").columns == ["a", "jet.pt", "b"]

    @pytest.mark.parametrize(
        "text",
        [
            "__import__('os').system('true')", "().__class__", "open('x')", "x if y else z", "[x]", "lambda: 1", "x[0]",
            "{1}", "f'{x}'", "x := 1", "9**9**9", "x @ y", "abs(x, y)", "abs(x=1)", "pow(x)", "x; y", "", "x >",
            "1j > x",
            "(x).real.__class__ > (y)()", "not " * 200 + "x", "(" * 5000, "x in y", "b'a' > x", "*x", "x" * 20_000,
        ],
    )  # fmt: skip
    def test_nothing_else_is_let_in(self, text):
        with pytest.raises(ValueError, match="the selection"):
            Expression(text)


def test_command_line(cli, path, columns, tmp_path):  # noqa: F811
    """Weights and classes by branch."""
    data = f"{path}:events"
    done = cli(["train", data, "--target", "is_signal", "--weight", "weight", "--base", "stump", "--rounds", "10",
                "--out", "m.mb", "--quiet"])  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(cli(["evaluate", "m.mb", data, "--json"]).out)
    assert found["error"] < 0.35
    done = cli(["predict", "m.mb", data, "--out", "p.csv"])
    assert done.code == 0, done.err
    assert len((tmp_path / "p.csv").read_text().splitlines()) == N + 1
    assert cli(["train", f"{path}:none", "--target", "is_signal", "--out", "x.mb"]).code == 2
    assert not (tmp_path / "x.mb").exists()
