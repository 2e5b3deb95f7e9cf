"""Walls between the parts: who may import whom, and what `import multiboost` costs."""

import ast
import re
import subprocess
import sys

import pytest

from .conftest import ROOT

PACKAGE = ROOT / "src" / "multiboost"

# The rooms in their order, each with the rooms before it that it imports, and the other packages.  A file of a room is
# named where the rest of that room is none of its business.
ROOMS = {
    "disk": (set(), set()),
    "memory": (set(), set()),
    "workspace": ({"memory"}, {"numpy"}),
    "visible": (set(), set()),
    "extras": (set(), set()),
    "registry": (set(), set()),
    "plugin": (set(), {"numpy"}),
    "kernels": (set(), {"numpy", "numba", "llvmlite"}),
    "ranking": (set(), {"numpy"}),
    "data": ({"kernels", "ranking", "registry", "workspace"}, {"numpy", "scipy", "sklearn", "narwhals"}),
    # uproot: imported where a ROOT file is read
    "files": ({"disk", "extras", "memory"}, {"numpy", "scipy", "pyarrow"}),
    "large": ({"data", "files", "workspace"}, {"numpy", "pyarrow"}),
    "losses": ({"kernels", "plugin", "registry"}, {"numpy"}),
    "criteria": ({"kernels", "registry"}, {"numpy"}),
    "base": ({"criteria", "data", "kernels", "registry", "workspace"}, {"numpy", "sklearn"}),
    "steps": ({"base.classifier", "criteria", "losses", "plugin", "registry"}, {"numpy", "scipy"}),
    "samplers": ({"plugin", "registry", "kernels.draw"}, {"numpy"}),
    "calibration": ({"plugin", "registry"}, {"numpy", "scipy", "sklearn", "threadpoolctl"}),
    "model": (
        {"base.classifier", "calibration", "data", "disk", "kernels", "memory", "multiboost"}
        | {"ranking", "workspace"},
        {"numpy"},
    ),
    # pyarrow: a log in Parquet, IPython: a bar in a notebook; imported where they are asked for
    "boosting": (
        {
            "base",
            "calibration",
            "criteria",
            "data",
            "disk",
            "kernels",
            "losses",
            "model",
            "plugin",
            "samplers",
            "workspace",
        }
        | {"steps"},
        {"numpy", "sklearn", "pyarrow", "IPython"},
    ),
    "lean": ({"data", "kernels", "model"}, {"numpy", "scipy", "numba"}),
    "estimators": (
        {"base", "boosting", "calibration", "criteria", "data", "large", "lean", "losses", "memory", "model", "plugin"}
        | {"ranking", "samplers", "steps", "workspace", "kernels.dtypes"}
        | {"kernels.compiler", "kernels.subset", "kernels.team", "kernels.walk", "kernels.warm"},
        {"numpy", "sklearn", "joblib"},
    ),
    "evaluation": (
        {"data.kinds", "data.ranked", "data.real", "data.table", "data.target", "estimators.negative"}
        | {"estimators.threads", "estimators.validation", "kernels.team", "losses", "model.model"}
        | {"ranking", "visible"},
        {"numpy", "sklearn", "matplotlib"},
    ),
    "theory": (
        {"base", "boosting.ruler", "data.kinds", "data.real", "data.table", "data.target", "kernels.team"}
        | {"model.model", "steps", "estimators"},
        {"numpy", "scipy", "sklearn"},
    ),
    "report": ({"disk", "evaluation", "multiboost", "visible"}, {"numpy"}),
    # onnx: imported where a model is written as ONNX
    "export": (
        {"base.classifier", "base.registry", "boosting.plan", "calibration", "data.kinds", "disk", "estimators"}
        | {"extras", "kernels.dtypes", "losses", "model", "multiboost", "steps"},
        {"numpy"},
    ),
    "physics": ({"extras"}, {"numpy", "scipy"}),
    "plugins": ({"base", "calibration", "criteria", "losses", "samplers", "steps"}, set()),
    # What reads arguments and files, calls estimators and shows what they say: nothing of how they learn.
    "cli": (
        {"data.categories", "data.kind", "data.kinds", "data.ranked", "data.real", "estimators", "evaluation", "export"}
        | {"extras"}
        | {
            "files",
            "large.dataset",
            "multiboost",
            "report",
            "base",
            "boosting.callbacks",
            "model.model",
            "model.storage",
            "kernels.histogram",
            "kernels.team",
            "memory",
            "visible",
        },
        {"numpy", "pyarrow", "sklearn"},
    ),
}


def imports_of(path):
    """Modules that a file imports, in full; our own begin with multiboost."""
    here = ("multiboost", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            package = here[: len(here) - node.level]
            if node.module:
                yield ".".join([*package, node.module])
            else:
                for name in node.names:
                    yield ".".join([*package, name.name])


def files_of(room):
    single = PACKAGE / f"{room}.py"
    return [single] if single.exists() else sorted((PACKAGE / room).rglob("*.py"))


def room_of(path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def ours_of(room) -> set[str]:
    """Other rooms that a room imports, as "room.file"; the package itself is "multiboost"."""
    found = set()
    for path in files_of(room):
        for module in imports_of(path):
            top, *rest = module.split(".")
            if top == "multiboost":
                name = ".".join(rest[:2])
                found.add("multiboost" if name.startswith("__") else name)
    return {name for name in found if name.partition(".")[0] != room}


def is_allowed(name: str, allowed: set[str]) -> bool:
    return name in allowed or name.partition(".")[0] in allowed


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_it_says(room):
    ours, others = ROOMS[room]
    assert files_of(room), f"the package has no room {room}"
    found = ours_of(room)
    assert {name for name in found if not is_allowed(name, ours)} == set()
    assert {name for name in ours if not any(is_allowed(one, {name}) for one in found)} == set(), "not needed any more"
    for path in files_of(room):
        for module in imports_of(path):
            top = module.partition(".")[0]
            known = top == "multiboost" or top in others or top in sys.stdlib_module_names
            assert known, f"{path.name} of {room} imports {module}"


def test_rooms_know_only_rooms_before_them():
    order = ["multiboost", *ROOMS]
    for room, (ours, _) in ROOMS.items():
        for other in ours:
            assert order.index(other.partition(".")[0]) < order.index(room), f"{room} comes before {other}"


def test_every_room_has_its_walls():
    """A new folder or module of the package must say what it may import."""
    assert {room_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"} == set(ROOMS)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def names_in(tree) -> set[str]:
    """What a file defines: functions, classes, variables, attributes of self."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
    return found


def is_self(node) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def touched(tree, known: set[str]):
    """Private names of others that a file reads or writes: ``x._name``, ``from ..room import _name``, ``getattr``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not is_self(node.value):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr"):
            names = [str(getattr(node.args[1], "value", ""))]
        else:
            continue
        yield from (f"line {node.lineno}: {name}" for name in names if is_private(name) and name not in known)


# Methods of named tuples have an underscore and are public.  numba has no public door to its index of kernels.
PUBLIC = {"_replace", "_fields", "_asdict"}
EXCEPTIONS = {"kernels": {"_version", "_load_index"}}


@pytest.mark.parametrize("room", ROOMS)
def test_no_private_name_of_another_room_is_touched(room):
    trees = {path: ast.parse(path.read_text()) for path in files_of(room)}
    known = PUBLIC | EXCEPTIONS.get(room, set()) | set().union(*map(names_in, trees.values()))
    found = [f"{path.name} {what}" for path, tree in trees.items() for what in touched(tree, known)]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ["clf._scores(X)", "x.y._kept = 1", "from ..data.table import _names", "getattr(clf, '_kind')", "del model._a"],
)
def test_the_walls_see_private_names(code):
    assert list(touched(ast.parse(code), {"_own"})) == [f"line 1: {re.search('_[a-z]+', code)[0]}"]
    assert list(touched(ast.parse("self._mine; a._own; b.__class__; from numba import _x"), {"_own"})) == []


def fresh(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["sklearn", "numba", "llvmlite", "pandas", "polars", "pyarrow", "scipy", "numpy", "narwhals", "matplotlib"]
    code = f"import multiboost; print(sorted(set({heavy}) & set(sys.modules)))"
    assert fresh(code) == "[]"


def test_arrays_need_no_frame_library():
    """Neither polars nor Arrow is imported by us; scikit-learn may import what it likes."""
    code = (
        "import sklearn.base, sklearn.utils.validation, sklearn.metrics\n"
        "before = set(sys.modules)\n"
        "import multiboost.estimators.multiboost_classifier, multiboost.estimators.saving\n"
        "print([f for f in ('pandas', 'polars', 'pyarrow', 'narwhals') if f in set(sys.modules) - before])"
    )
    assert fresh(code) == "[]"


def test_numbers_and_reports_need_no_matplotlib():
    """Displays import it when they plot, and a report draws by itself."""
    code = "import multiboost.evaluation, multiboost.report, multiboost.evaluation.displays\n"
    assert fresh(code + "print('matplotlib' in sys.modules)") == "False"


def test_public_names_are_there():
    import multiboost

    for name in multiboost.__all__:
        assert getattr(multiboost, name) is not None
        assert name in dir(multiboost)
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        _ = multiboost.Forest
