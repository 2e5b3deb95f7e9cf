"""Where the arrays of a fit live: in memory, or in files of a folder that are mapped into memory.

A mapped array is an array like any other.  Its file has no name any more when the first number is written: whatever
happens to the process, nothing is left behind.  Its bytes are reserved at the start, so that a full disk is an error
there and not in the middle of a run.

Pages of a mapped file stay resident until somebody else needs the memory.  The `_Keeper` gives them back earlier: it
looks, two thousand times a second, how much of the process is resident, and lets go of mapped pages where that is more
than the limit.  What was written to them is not lost: it is in the file, or on its way to it.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

import numpy as np

from .memory import size, watching_resident

_SMALL = 1 << 20  # bytes of an array that is not worth a file
_PERIOD = 0.0005  # seconds between two looks of the keeper: in each two threads may map 60 MB
_HEADROOM = 0.45  # of the limit, above which pages are let go: the process touches others while that goes on


class InMemory:
    """Arrays in memory."""

    on_disk = False

    def zeros(self, shape, dtype) -> np.ndarray:
        """An array of zeros."""
        return np.zeros(shape, dtype)

    def moved(self, array: np.ndarray) -> np.ndarray:
        """An array that is in memory."""
        return array

    def close(self) -> None:
        """Nothing is to be done."""


IN_MEMORY = InMemory()


class Workspace(InMemory):
    """Arrays in mapped files of a folder.

    Parameters
    ----------
    folder : str, path or None
        None: the system's folder for temporary files.
    limit : float
        Bytes of the process that may be resident.
    """

    on_disk = True

    def __init__(self, folder=None, limit: float = np.inf):
        self.folder = Path(tempfile.gettempdir() if folder is None else folder)
        self._maps: WeakSet[mmap.mmap] = WeakSet()
        self._keeper = _Keeper(self._maps, _HEADROOM * limit) if _Keeper.can_work and limit < np.inf else None
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                file.write(b"0")
        except OSError as error:
            raise type(error)(
                error.errno, f"{error.strerror}: no file can be written there; name another folder, workspace=...",
                str(self.folder),
            ) from error  # fmt: skip

    def check_room(self, n_bytes: float) -> None:
        """Refuse what does not fit on the disk, before anything of it is written."""
        free = shutil.disk_usage(self.folder).free
        if n_bytes > free:
            raise OSError(
                errno.ENOSPC,
                f"about {size(n_bytes)} are needed there for the time of the fit, and {size(free)} are free; name a "
                "folder on another disk, workspace=...",
                str(self.folder),
            )

    def zeros(self, shape, dtype) -> np.ndarray:
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if n_bytes < max(1, _SMALL):
            return np.zeros(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                else:
                    file.truncate(n_bytes)
                mapped = mmap.mmap(file.fileno(), n_bytes)
        except OSError as error:
            what = f"{error.strerror}: an array of {size(n_bytes)} does not fit there; name another folder, workspace="
            raise type(error)(error.errno, what, str(self.folder)) from error
        self._maps.add(mapped)
        if self._keeper is not None:
            self._keeper.begin()
        return np.frombuffer(mapped, dtype).reshape(shape)

    def moved(self, array):
        found = self.zeros(array.shape, array.dtype)
        found[...] = array
        return found

    def close(self) -> None:
        """Stop to watch; arrays live as long as somebody has them."""
        if self._keeper is not None:
            self._keeper.end()


class _Keeper:
    """Lets go of mapped pages where too much of the process is resident."""

    can_work = sys.platform == "linux" and hasattr(mmap, "MADV_DONTNEED")

    def __init__(self, maps: WeakSet[mmap.mmap], limit: float):
        self._maps, self._limit = maps, limit
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Watch from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="multiboost keeper", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Watch no longer."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        # Where the system does not let us, it waits for its turn, and is late where all processors are busy.
        with suppress(OSError):
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(1))
        with watching_resident() as resident:
            while not self._over.wait(_PERIOD):
                if resident() > self._limit:
                    for mapped in list(self._maps):
                        mapped.madvise(mmap.MADV_DONTNEED)
