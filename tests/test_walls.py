"""Walls between the parts: who may import whom, and what `import multiboost` costs."""

import ast
import subprocess
import sys

import pytest

from .conftest import ROOT

PACKAGE = ROOT / "src" / "multiboost"

# Each part may import itself, these parts of the package and these other packages.
ALLOWED = {
    "kernels": (set(), {"numpy", "numba", "llvmlite"}),
    "losses": ({"kernels"}, {"numpy"}),
    "data": ({"kernels"}, {"numpy", "scipy", "sklearn", "narwhals"}),
    "files": ({"disk"}, {"numpy", "scipy", "pyarrow"}),
    "base": ({"data", "kernels"}, {"numpy", "sklearn"}),
    "ensemble": ({"base", "data", "disk", "kernels"}, {"numpy"}),
    # pyarrow: a log in Parquet, imported where one is asked for
    "boosting": ({"base", "data", "disk", "ensemble", "kernels", "losses"}, {"numpy", "sklearn", "pyarrow"}),
    "estimators": (
        {"base", "boosting", "data", "ensemble", "kernels", "losses", "multiboost"},
        {"numpy", "scipy", "sklearn"},
    ),
    "evaluation": ({"data", "estimators"}, {"numpy", "sklearn", "matplotlib"}),
    "report": ({"base", "disk", "evaluation", "multiboost"}, {"numpy"}),
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


def files_of(part):
    single = PACKAGE / f"{part}.py"
    return [single] if single.exists() else sorted((PACKAGE / part).rglob("*.py"))


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_a_part_imports_only_what_is_below_it(part):
    """The order is kernels, data and losses, base, ensemble, boosting, estimators, evaluation, report."""
    ours, others = ALLOWED[part]
    files = files_of(part)
    assert files, f"the package has no part {part}"
    for path in files:
        for module in imports_of(path):
            top, _, rest = module.partition(".")
            if top == "multiboost":
                target = rest.partition(".")[0]
                if target.startswith("__"):
                    target = "multiboost"  # the version, from the package itself
                assert target == part or target in ours, f"{path.name} of {part} imports {module}"
            else:
                assert top in others or top in sys.stdlib_module_names, f"{path.name} of {part} imports {module}"


def test_every_part_has_a_wall():
    """A new folder or module of the package must say what it may import."""
    parts = {p.stem for p in PACKAGE.iterdir() if (p.is_dir() and p.name != "__pycache__") or p.suffix == ".py"}
    known = set(ALLOWED) | {"__init__", "__main__", "cli", "disk", "extras"}
    assert parts - known == set()


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
        "import multiboost.estimators.adaboost_mh, multiboost.estimators.persistence\n"
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
