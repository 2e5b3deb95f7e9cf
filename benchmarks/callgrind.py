"""Instructions of a piece of Python, counted by valgrind's callgrind: the same whatever else the machine does.

Callgrind starts with its counting off, so that imports and preparations are only slow and not very slow.  The process
itself turns it on and off by client requests: a sequence of instructions that does nothing on a processor and means
something to valgrind, with the request in a register.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from .data import PROJECT
from .measure import environment

# mov rax, rdi; xor edx, edx; rol rdi, 3; rol rdi, 13; rol rdi, 61; rol rdi, 51; xchg rbx, rbx; mov rax, rdx; ret
_REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
_CALLGRIND = ord("C") << 24 | ord("T") << 16
_ZERO, _DUMP, _START, _STOP = (_CALLGRIND + k for k in (1, 3, 4, 5))


class Unavailable(Exception):
    """Instructions cannot be counted here."""


def check() -> None:
    """Raise `Unavailable` where instructions cannot be counted."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise Unavailable("instructions are counted on x86-64 Linux only")
    if not llvm.get_host_cpu_features().get("avx2"):
        raise Unavailable("this processor has no AVX2, for which the numbers are recorded")
    if shutil.which("valgrind") is None:
        raise Unavailable("valgrind is not installed")


def target_environment() -> dict[str, str]:
    """Environment of a process whose kernels valgrind can run, with vectors of 256 bits on every processor.

    They are those of this processor, which other processes have compiled already, unless it has AVX-512, which
    valgrind does not know.
    """
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    flat = features.flatten()
    if features.get("avx512f"):
        name, flat = "haswell", "+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt"
    return environment(NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=flat, PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1")


class Counter:
    """Inside the process: turns the counting on and off, and names what was counted."""

    def __init__(self):
        protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        self._page = mmap.mmap(-1, len(_REQUEST), prot=protection)
        self._page.write(_REQUEST)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)

    def _ask(self, request: int, argument: int = 0) -> None:
        words = np.array([request, argument, 0, 0, 0, 0], np.uint64)
        self._call(words.ctypes.data)

    def count(self, actions: dict[str, Callable[[], object]]) -> None:
        """Count the instructions of some actions, by name."""
        self._ask(_START)  # once: valgrind translates all code anew
        for name, action in actions.items():
            text = ctypes.create_string_buffer(name.encode())
            self._ask(_ZERO)
            action()
            self._ask(_DUMP, ctypes.addressof(text))
        self._ask(_STOP)


def instructions(code: str, *arguments: str) -> dict[str, int]:
    """Run Python code under callgrind; instructions by the names that its `Counter` was given."""
    command = [sys.executable, "-c", code, *arguments]
    _run(command)  # compiles what is not compiled yet
    with tempfile.TemporaryDirectory(prefix="multiboost-") as folder:
        out = Path(folder, "counts")
        _run(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}", *command])
        texts = [path.read_text() for path in Path(folder).glob("counts.*")]
    found = {}
    for text in texts:
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if name and total:
            found[name[1]] = int(total[1])
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env=target_environment(), cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-800:]}")
