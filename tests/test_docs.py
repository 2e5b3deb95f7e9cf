"""Examples in the documents run, and print what the documents say."""

import doctest
import os
import re
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import multiboost

from .conftest import ROOT

EXAMPLE = re.compile(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", re.DOTALL)
PAGES = ["README.md", "docs/guide.md", "docs/nominal.md", "docs/evaluation.md", "docs/files.md"]
PAGES = [*PAGES, "docs/regression.md", "docs/theory.md"]
# Every process compiles parts from outside of the package anew.
PAGES = [*PAGES, pytest.param("docs/plugins.md", marks=pytest.mark.slow)]


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path):
    """All examples of a page in one fresh process, one after the other, and what they print."""
    examples = EXAMPLE.findall((ROOT / page).read_text())
    assert examples
    script = "\nprint('----')\n".join(code for code, _ in examples)
    (tmp_path / "page.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    printed = [part.strip() for part in done.stdout.split("----\n")]
    assert printed == [said.strip() for _, said in examples]


def test_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = 0
    for module in walk_packages(multiboost.__path__, "multiboost."):
        if not module.name.startswith("multiboost.cli"):
            failed, n = doctest.testmod(import_module(module.name))
            assert failed == 0, module.name
            tried += n
    assert tried > 20
