"""What all evaluations can do: a headline, dictionaries, JSON, text."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np

from ..visible import visible
from .intervals import Interval


@dataclass
class Comparison:
    """A model beside an answer that needs no column of the table.

    Attributes
    ----------
    what : str
        That answer in words.
    numbers : str
        Both, in words.
    saved : float
        How much of it the model saves; 0 or less is no better.
    """

    what: str
    numbers: str
    saved: float


class Measures:
    """Common to evaluations, which are dataclasses.

    Attributes
    ----------
    HEADLINE : tuple of str
        The numbers that come first.
    CALLED : dict of str to str
        Names of those that go by another name where only the headline is shown.
    SOME : tuple of str
        Those of them that only some models have.
    """

    HEADLINE: ClassVar[tuple[str, ...]] = ()
    CALLED: ClassVar[dict[str, str]] = {}
    SOME: ClassVar[tuple[str, ...]] = ()

    kind: str
    n_rows: int
    n_rounds: int
    weight: float
    error: float | None
    risk: float | None
    mistakes: list
    intervals: dict[str, Interval] = {}  # noqa: RUF012  a default that is never changed
    advantage: Interval | None = None

    def headline(self) -> dict[str, float]:
        """The few numbers that come first, those of them that are defined."""
        values = {self.CALLED.get(name, name): getattr(self, name) for name in self.HEADLINE}
        return {name: float(value) for name, value in values.items() if value is not None}

    def comparison(self) -> Comparison | None:
        """The model beside the best constant; None where there is no such thing."""
        return None

    def to_dict(self) -> dict:
        """Dictionaries, lists, numbers and text."""
        me: Any = self
        return asdict(me)

    def to_json(self, **options) -> str:
        """As JSON text.

        Parameters
        ----------
        **options : dict
            Passed on to ``json.dumps``.
        """
        return json.dumps(finite(self.to_dict()), **{"allow_nan": False, **options})

    def _lines(self) -> list[tuple[str, str]]:
        """Names and numbers of the headline, and the risk."""
        lines = []
        for name in (*self.HEADLINE, "risk"):
            value = getattr(self, name)
            if value is None and name in self.SOME:
                continue
            called = self.CALLED.get(name, name).replace("_", " ")
            interval = self.intervals.get(name)
            beside = f"  ({interval.low:.4f} to {interval.high:.4f})" if interval else ""
            lines.append((called, f"{'undefined' if value is None else f'{value:.4f}'}{beside}"))
        return lines

    @property
    def _title(self) -> str:
        return f"{self.kind}, {self.n_rows} rows, {self.n_rounds} rounds"

    def _beside(self) -> list[str]:
        """The numbers of a model that looks at nothing, in a line."""
        compared = self.comparison()
        return [f"beside {compared.what}: {compared.numbers}"] if compared else []

    def __str__(self) -> str:
        lines = [self._title, *(f"{name:>15}  {value}" for name, value in self._lines()), *self._beside()]
        return "\n".join(map(visible, lines))

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name} {value.partition('  ')[0]}" for name, value in self._lines())
        return f"<{type(self).__name__}: {self._title}; {numbers}>"

    def _repr_html_(self) -> str:
        rows = (f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in self._lines())
        caption = "<br>".join(map(escape, [self._title, *self._beside()]))
        return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"


def share(value: float) -> str:
    """A share in words: 12.3 %, 1.23 %."""
    return f"{100 * value:.{1 if abs(value) >= 0.0995 else 2}f} %"


def finite(value):
    """A copy of nested dictionaries and lists with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
