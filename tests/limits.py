"""Code that runs in a process of its own, with only so much memory."""

import subprocess
import sys

from .conftest import ROOT

LIMIT = 1 << 30  # bytes above what the process has after its imports


def limit_memory(more: int = LIMIT) -> None:
    """From now on this process gets at most ``more`` bytes; for a process of its own."""
    import resource
    from pathlib import Path

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))


def run_limited(code: str, *arguments, imports: str = "", timeout: float = 120) -> subprocess.CompletedProcess:
    """Run Python code that may take `LIMIT` bytes more than it has after its imports."""
    lines = [imports, "from tests.limits import limit_memory", "limit_memory()", code]
    command = [sys.executable, "-c", "\n".join(lines), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=ROOT)
