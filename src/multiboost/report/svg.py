"""A small tidy way to draw: two axes, lines, steps, dots.

Everything is drawn in the units of the view box; colours and sizes of letters are those of
the page's style sheet, by class.  An `Axes` tells its domain and its frame in data attributes,
so that what is drawn can be read back.
"""

from __future__ import annotations

import math

import numpy as np

from .markup import Html, join, number, tag

_LETTER = 6.8  # width of a digit, about


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = min((m * unit for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    first = math.ceil(low / step - 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 between them where there are few; round numbers where there are none."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    few = math.log10(high / low) < 2.5
    step = max(1, math.ceil((last - first) / 6))
    first = math.floor(first / step) * step
    for parts in [(1, 2, 5)] if few else [(1,), (1, 2, 5)]:
        marks = [m * 10.0**e for e in range(first, last + 1, step) for m in parts]
        marks = [m for m in marks if low * (1 - 1e-9) <= m <= high * (1 + 1e-9)]
        if len(marks) >= 3:
            return marks
    return [m for m in linear_ticks(low, high) if m > 0]


def tick_text(value: float, percent: bool = False) -> str:
    """How an axis calls a number."""
    return f"{number(100 * value, 6)}\u00a0%" if percent else number(value, 6)


class Axes:
    """A frame with two scales.

    Parameters
    ----------
    x, y : (float, float)
        What the frame spans.
    width, height : float
        Of the whole picture.
    left, right, top, bottom : float
        Room for letters around the frame.
    log_y : bool
    """

    def __init__(
        self, x, y, *, width=420.0, height=260.0, left=48.0, right=12.0, top=10.0, bottom=38.0, log_y=False
    ):  # fmt: skip
        self.x, self.y = _widened(x), (y if log_y else _widened(y))
        self.width, self.height, self.log_y = width, height, log_y
        self.left, self.top = left, top
        self.inner_width, self.inner_height = width - left - right, height - top - bottom
        self.below: list[Html] = []
        self.marks: list[Html] = []

    def px(self, value: float) -> float:
        """Where a value lies from left to right."""
        return self.left + self.inner_width * (value - self.x[0]) / (self.x[1] - self.x[0])

    def py(self, value: float) -> float:
        """Where a value lies from top to bottom."""
        if self.log_y:
            low, high = math.log(self.y[0]), math.log(self.y[1])
            share = (math.log(max(value, self.y[0] * 1e-3)) - low) / (high - low)
        else:
            share = (value - self.y[0]) / (self.y[1] - self.y[0])
        return self.top + self.inner_height * (1.0 - share)

    def frame(self, x_label: str, y_label: str, *, percent_x=False, percent_y=False, about=5, x_ticks=None) -> Axes:
        """Ticks, a quiet grid and the names of the axes."""
        bottom, right = self.top + self.inner_height, self.left + self.inner_width
        for value in x_ticks if x_ticks is not None else linear_ticks(self.x[0], self.x[1], about):
            at = self.px(value)
            self.below.append(tag("line", class_="tick", x1=_n(at), x2=_n(at), y1=_n(bottom), y2=_n(bottom + 4)))
            said = tick_text(value, percent_x)
            half = _LETTER / 2 * len(said)
            self._letter(said, max(half, min(at, self.width - half)), bottom + 15, "middle")  # inside of the picture
        for value in log_ticks(*self.y) if self.log_y else linear_ticks(self.y[0], self.y[1], about):
            at = self.py(value)
            self.below.append(tag("line", class_="grid", x1=_n(self.left), x2=_n(right), y1=_n(at), y2=_n(at)))
            self._letter(tick_text(value, percent_y), self.left - 6, at + 4, "end")
        self.below.append(tag("line", class_="axis", x1=_n(self.left), x2=_n(right), y1=_n(bottom), y2=_n(bottom)))
        if x_label:
            self._letter(x_label, self.left + self.inner_width / 2, self.height - 4, "middle", "name")
        if y_label:
            middle = self.top + self.inner_height / 2
            turned = f"rotate(-90 12 {_n(middle)})"
            self.below.append(
                tag("text", y_label, x=12, y=_n(middle), text_anchor="middle", class_="name", transform=turned)
            )
        return self

    def _letter(self, content: str, x: float, y: float, anchor: str, class_: str | None = None) -> None:
        self.below.append(tag("text", content, x=_n(x), y=_n(y), text_anchor=anchor, class_=class_))

    def line(self, xs, ys, class_: str, *, name: str | None = None) -> Axes:
        """A line through points; None and NaN leave gaps."""
        parts, pen_down = [], False
        for x, y in zip(xs, ys, strict=True):
            if y is None or not math.isfinite(y):
                pen_down = False
                continue
            parts.append(f"{'L' if pen_down else 'M'}{_n(self.px(x))} {_n(self.py(y))}")
            pen_down = True
        if len(parts) == 1:
            parts.append("l0 0")  # a line of one point is a dot, by its round ends
        self.marks.append(tag("path", class_=f"line {class_}", d="".join(parts), data_series=name))
        return self

    def steps(self, edges, values, class_: str, *, name: str | None = None) -> Axes:
        """``values[i]`` from ``edges[i]`` to ``edges[i + 1]``."""
        xs = np.repeat(np.asarray(edges, dtype=float), 2)[1:-1]
        return self.line(xs.tolist(), np.repeat(np.asarray(values, dtype=float), 2).tolist(), class_, name=name)

    def points(self, xs, ys, class_: str, *, name: str | None = None) -> Axes:
        """Many dots in one path: lines of no length, by their round ends."""
        parts = [
            f"M{_n(self.px(x))} {_n(self.py(y))}h0"
            for x, y in zip(xs, ys, strict=True)
            if math.isfinite(x) and math.isfinite(y)
        ]
        self.marks.append(tag("path", class_=f"points {class_}", d="".join(parts), data_series=name))
        return self

    def bars(self, edges, values, class_: str, *, name: str | None = None) -> Axes:
        """A bar from 0 to ``values[i]`` between ``edges[i]`` and ``edges[i + 1]``, all of them in one path."""
        parts = []
        for low, high, value in zip(edges[:-1], edges[1:], values, strict=True):
            left, right, foot = _n(self.px(low)), _n(self.px(high)), _n(self.py(0.0))
            parts.append(f"M{left} {foot}V{_n(self.py(value))}H{right}V{foot}Z")
        self.marks.append(tag("path", class_=f"bars-of {class_}", d="".join(parts), data_series=name))
        return self

    def dot(self, x: float, y: float, class_: str, radius: float = 3.0, title: str | None = None) -> Axes:
        """A dot, with a word for the pointer."""
        attributes = {"class_": f"dot {class_}", "cx": _n(self.px(x)), "cy": _n(self.py(y)), "r": _n(radius)}
        if title is None:
            self.marks.append(tag("circle", **attributes))
        else:
            open_circle = tag("circle", **attributes)[:-2]
            self.marks.append(Html(f"{open_circle}>{tag('title', title)}</circle>"))
        return self

    def rule(self, *, x: float | None = None, y: float | None = None, class_="rule") -> Axes:
        """A straight line across the frame."""
        x1, x2 = (self.px(x),) * 2 if x is not None else (self.left, self.left + self.inner_width)
        y1, y2 = (self.py(y),) * 2 if y is not None else (self.top, self.top + self.inner_height)
        self.below.append(tag("line", class_=class_, x1=_n(x1), x2=_n(x2), y1=_n(y1), y2=_n(y2)))
        return self

    def words(self, content: str, x: float, y: float, anchor="start", class_="note") -> Axes:
        """Words at a place of the frame, in the units of the picture."""
        self.marks.append(tag("text", content, x=_n(x), y=_n(y), text_anchor=anchor, class_=class_))
        return self

    def svg(self, alternative: str, chart: str, *, clip: bool = False) -> Html:
        """The picture; ``alternative`` is what it says in words."""
        marks = join(self.marks)
        if clip:
            room = tag(
                "rect", x=_n(self.left), y=_n(self.top), width=_n(self.inner_width), height=_n(self.inner_height)
            )
            name = f"clip-{chart}"
            marks = join([tag("clipPath", room, id=name), tag("g", marks, clip_path=f"url(#{name})")])
        frame = (self.left, self.top, self.inner_width, self.inner_height)
        return tag(
            "svg",
            join(self.below),
            marks,
            role="img",
            aria_label=alternative,
            viewBox=f"0 0 {_n(self.width)} {_n(self.height)}",
            data_chart=chart,
            data_frame=" ".join(map(_n, frame)),
            data_x=f"{self.x[0]:.10g} {self.x[1]:.10g}",
            data_y=f"{self.y[0]:.10g} {self.y[1]:.10g}",
            data_log="y" if self.log_y else None,
        )


def _n(value: float) -> str:
    """A coordinate, to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _widened(span) -> tuple[float, float]:
    """A span that is not empty; it may run backwards."""
    low, high = float(span[0]), float(span[1])
    return (low, high) if high != low else (low - 0.5, low + 0.5)
