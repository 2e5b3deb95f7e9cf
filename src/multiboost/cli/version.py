"""``multiboost version``."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from .. import __version__

_STANDS_ON = ("numpy", "numba", "scikit-learn", "scipy", "narwhals", "pyarrow", "typer", "rich")


def run() -> None:
    """Print versions, one on a line."""
    print(f"multiboost {__version__}")
    print(f"python {platform.python_version()}")
    for name in _STANDS_ON:
        try:
            print(f"{name} {version(name)}")
        except PackageNotFoundError:
            print(f"{name} not installed")
