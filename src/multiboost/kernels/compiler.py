"""How kernels are compiled and kept on disk.

numba keeps what it compiles, and looks at the file of the outer kernel alone to see whether that is still true.  But
functions of other files are compiled into a kernel, too.  So our caches are stamped with a digest of all these files: a
change in any of them makes all kept code unusable.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.serialize import dumps
from numba.extending import is_jitted, register_jitable

# Most kernels allocate nothing, so that references to their arrays need not be counted; none
# is called from C.  Both save a little of the time of compiling them.  What does not count
# references must not return an array to a kernel that does.
OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "nsz", "contract"},
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
# For the few that do allocate.
ALLOCATING: dict[str, Any] = {**OPTIONS, "_nrt": True}
# For kernels that only other kernels call: nothing to call them from Python.  Such a kernel may run as it was compiled
# alone, or as a part of a caller that was kept on disk.  fastmath could round the two differently, so there is none.
INNER: dict[str, Any] = {**OPTIONS, "cache": False, "no_cpython_wrapper": True, "fastmath": False}
# For kernels that have a name but only one caller: compiled as a part of it.
ONCE: dict[str, Any] = {**INNER, "inline": "always"}
# For what stands in the innermost loops: a call there costs as much as the work.  There is only the copy in the caller.
INLINE: dict[str, Any] = {**INNER, "forceinline": True, "fastmath": OPTIONS["fastmath"]}

_SOURCES = ("kernels", "losses", "criteria")  # rooms that have functions which are compiled


@cache
def source_stamp() -> str:
    """Digest of all files whose functions may be compiled into a kernel."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted(file for room in _SOURCES for file in package.glob(f"{room}/*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


class KernelCache(FunctionCache):
    """numba's cache of one function, which holds as long as no file of the kernels changes."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), source_stamp()
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, stamp)
        # What is of another version is not even read: it may speak of classes that are gone.
        self._cache_file._version = f"{numba.__version__} {source_stamp()}"

    def _index_key(self, sig, codegen):
        """As numba's; but a kernel that a closure holds counts by its name: its pickle differs in every process."""
        function = self._py_func
        held = [_name_of(cell.cell_contents) for cell in function.__closure__ or ()]
        digests = tuple(hashlib.sha256(part).hexdigest() for part in (function.__code__.co_code, dumps(held)))
        return sig, codegen.magic_tuple(), digests

    @property
    def is_empty(self) -> bool:
        """Whether no code of the function is kept that could be used."""
        return not self._cache_file._load_index()


def _name_of(held):
    """A kernel's name, where a name says all about it; anything else itself."""
    name = held.py_func.__qualname__ if is_jitted(held) else "<locals>"
    return held if "<locals>" in name else (held.py_func.__module__, name)


def njit(*, cache, **options):
    """As ``numba.njit``, with our cache."""

    def compile(function):
        kernel = numba.njit(**options)(function)
        if cache and kernel is not function:  # numba may be told to compile nothing
            kernel._cache = KernelCache(function)
        return kernel

    return compile


class _CFunc(CFunc):
    def enable_caching(self):
        self._cache = KernelCache(self._pyfunc)


class _FirstOfAll(event.Listener):
    """Says so when the first kernel is compiled: what is read from the cache is none."""

    def __init__(self, say: Callable[[], None]):
        self._say: Callable[[], None] | None = say

    def on_start(self, event):
        say, self._say = self._say, None
        if say is not None:
            say()

    def on_end(self, event):
        pass


@contextmanager
def when_compiling(say: Callable[[], None]) -> Iterator[None]:
    """While this lasts, ``say`` is called when a kernel is not in the cache and has to be compiled; once."""
    with event.install_listener("numba:compile", _FirstOfAll(say)):
        yield


def part_of_kernels(function):
    """The same function, which kernels may call from now on; for Python it stays as it is."""
    return function if is_jitted(function) else register_jitable(function)


def is_ours(function) -> bool:
    """Whether a function is of this package: other processes may not find the module of another one."""
    return function.__module__.partition(".")[0] == __name__.partition(".")[0]


def compiled(function, *kinds, keep: bool = True, returns=numba.types.void) -> CFunc:
    """``function`` compiled apart for arguments of these numba types.

    keep : whether the code is kept on disk
    returns : the numba type of its result
    """
    return _compiled(function, kinds, keep, returns)


@cache
def _compiled(function, kinds, keep, returns):
    options = {name: OPTIONS[name] for name in ("error_model", "fastmath", "_nrt")}
    made = _CFunc(function, (kinds, returns), {}, options)
    if keep:
        made.enable_caching()
    made.compile()
    return made
