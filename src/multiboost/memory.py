"""How much memory there is, and a clear word before it runs out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def available() -> float:
    """Bytes that this process may still take: of the machine, of its container, of its own limit."""
    return max(0.0, min(_of_machine(), _of_container(), _of_process()))


def need(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse what does not fit into memory, before anything of it is allocated.

    Parameters
    ----------
    n_bytes : float
        An estimate.
    what : str
        That needs so much.
    remedy : str

    Raises
    ------
    MemoryError
    """
    free = available()
    if n_bytes > free:
        raise MemoryError(f"not enough memory for {what}: about {size(n_bytes)}, and {size(free)} are free; {remedy}")


def size(n_bytes: float) -> str:
    """A number of bytes for people."""
    for unit, name in _UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes:.0f} bytes"


def bytes_of(given: str | float, what: str = "memory") -> float:
    """A number of bytes from what a user writes: 2e9, "2GB", "500 MB", "1.5GiB".

    Parameters
    ----------
    given : str or number
    what : str
        The parameter, for messages.
    """
    powers = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*([kmgt]?i?)b?\s*", str(given).lower())
    if found is None or found[2] not in powers or isinstance(given, bool) or not float(found[1]) > 0:
        raise ValueError(f"{what} must be a size such as '2GB' or a number of bytes; got {given!r}")
    return float(found[1]) * powers[found[2]]


def resident() -> float:
    """Bytes of this process that are in memory now; 0 where the system does not say."""
    pages = _lines("/proc/self/statm")
    return float(pages[0].split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages else 0.0


@contextmanager
def watching_resident() -> Iterator[Callable[[], float]]:
    """The same on Linux, to be asked some thousand times a second."""
    page = os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/statm", "rb", buffering=0) as file:
        yield lambda: float(os.pread(file.fileno(), 200, 0).split()[1]) * page


def _of_machine() -> float:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024.0 * float(line.split()[1])
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return float("inf")


def _of_container() -> float:
    limit, used = (_lines(_CGROUP / name) for name in ("memory.max", "memory.current"))
    if not (limit and used and limit[0].strip().isdigit()):
        return float("inf")
    return float(limit[0]) - float(used[0])


def _of_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _lines("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not pages:
        return float("inf")
    return float(limit) - float(pages[0].split()[0]) * resource.getpagesize()


def _lines(path) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
