"""A bar in a notebook, kept up to date."""

from __future__ import annotations

import sys
from html import escape
from typing import Any


def is_notebook() -> bool:
    """Whether output goes to the cells of a notebook."""
    python = sys.modules.get("IPython")  # whoever runs a notebook has imported it
    shell = None if python is None else python.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Bar:
    """A bar below a cell, with a line of text beside it."""

    def __init__(self):
        self._handle: Any = None

    def show(self, done: int, wanted: int, text: str) -> None:
        """Draw it, or draw it again."""
        from IPython.display import HTML, display

        bar = f'<progress value="{done}" max="{wanted}" style="width: 12em"></progress>'
        shown = HTML(f"{bar} <code>{escape(text)}</code>")
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)
