"""Examples in the documents run, and print what the documents say; links lead somewhere."""

import doctest
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pkgutil import walk_packages

import pytest

import multiboost

from .conftest import ROOT

DOCS = ROOT / "docs"
USERS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]  # docs/notes is for maintainers
SLOW = {"plugins.md"}  # every process compiles parts from outside of the package anew
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]*)?\)")
# How many such lines there are is a matter of time, and of what was compiled before.
PROGRESS = re.compile(r"round +\d+ of \d+ |compiling kernels|comparing settings")
OUTSIDE = ("make ", "pip install ", "git clone ", "cd ")  # what sets a machine up is looked at, not run

FILES = {"toml": "run.toml", "c": "main.c"}
NOT_RUN = {"multiboost import old.shyp.xml --out old.mb --columns train.arff --target class\n"}  # see test_export_cli
ANYTHING = None  # is printed
PRELUDE = """
import subprocess
def _shell(commands, must_end_well=False):
    done = subprocess.run(commands, shell=True, executable="/bin/bash", stdout=-1, stderr=-2, text=True)
    assert not (must_end_well and done.returncode), done.stdout
    print(done.stdout, end="")
"""


def steps(text):
    """The blocks of a page as pairs of Python and what it prints; shell commands are called from Python.

    ``python`` blocks run, and a block without a language that follows at once is what they print.  In other blocks
    without a language a line that begins with ``$`` is a command, and the lines below it are what it prints.
    ``...`` stands for anything.  ``sh`` blocks run and must end well.  Some languages are those of files.
    """
    found, end = [], -1
    for block in BLOCK.finditer(text):
        language, body = block.groups()
        follows = text[end : block.start()].strip() == "" and end >= 0
        if language == "python":
            found.append([body, ""])
        elif language == "sh":
            inside = "".join(line for line in body.splitlines(True) if not line.startswith(OUTSIDE))
            found.append([f"_shell({'set -e; ' + inside!r}, must_end_well=True)", ANYTHING])
        elif language in FILES:
            found.append([f"open({FILES[language]!r}, 'w').write({body!r})", ""])
        elif body.startswith("$ "):
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, said = part.partition("\n")
                found.append([f"_shell({command!r})", said])
        elif follows:
            found[-1][1] = body
        elif body not in NOT_RUN:
            found.append([f"raise AssertionError('nobody runs ' + {body!r})", ""])
        end = block.end() if language == "python" else -1
    return found


def some(pages):
    return [pytest.param(p, id=p.name, marks=[pytest.mark.slow] if p.name in SLOW else []) for p in pages]


@pytest.mark.parametrize("page", some(p for p in USERS if steps(p.read_text())))
def test_page(page, tmp_path):
    """All examples of a page in one fresh process, one after the other, and what they print."""
    examples = steps(page.read_text())
    (tmp_path / "page.py").write_text(PRELUDE + "\nprint('----', flush=True)\n".join(code for code, _ in examples))
    commands = tmp_path / "bin"
    commands.mkdir()
    run = "-m multiboost"
    for name, words in {"multiboost": run, "python": ""}.items():
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (commands / name).chmod(0o755)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PATH": f"{commands}:{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split("----\n")
    assert len(printed) == len(examples)
    for (code, said), got in zip(examples, printed, strict=True):
        same = said == ANYTHING or doctest.OutputChecker().check_output(_plain(said), _plain(got), doctest.ELLIPSIS)
        assert same, f"{code}\nprints\n{got}\nand the page says\n{said}"


def _plain(text):
    """Without lines of progress, blanks at the ends of lines, and blank lines at both ends."""
    return "\n".join(line.rstrip() for line in text.splitlines() if not PROGRESS.match(line)).strip("\n") + "\n"


@pytest.mark.parametrize("page", [*USERS, *sorted((DOCS / "notes").glob("*.md")), ROOT / "CONTRIBUTING.md"])
def test_links(page):
    for target, _ in LINK.findall(page.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_the_index():
    index = (DOCS / "README.md").read_text()
    listed = {target for target, _ in LINK.findall(index)}
    for page in [*DOCS.glob("*.md"), *(DOCS / "notes").glob("*.md")]:
        if page.name != "README.md":
            assert str(page.relative_to(DOCS)) in listed, f"docs/README.md does not list {page.name}"


def test_what_sets_a_machine_up_exists():
    """Targets of make and optional dependencies that the pages name."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    named = 0
    for page in [*USERS, ROOT / "CONTRIBUTING.md"]:
        text = page.read_text()
        for target in re.findall(r"^make ([\w-]+)", text, re.MULTILINE):
            assert target in targets, f"{page.name}: make {target}"
        for several in re.findall(r"pip install [\"'](?:\.|multiboost)\[([\w,]+)\]", text):
            assert set(several.split(",")) <= extras, f"{page.name}: [{several}]"
            named += 1
    assert named > 2


def test_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = 0
    for module in walk_packages(multiboost.__path__, "multiboost."):
        if not module.name.startswith("multiboost.cli"):
            failed, n = doctest.testmod(import_module(module.name))
            assert failed == 0, module.name
            tried += n
    assert tried > 20
