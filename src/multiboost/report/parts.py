"""Pieces of which sections are made: tables, cards, folded numbers."""

from __future__ import annotations

from ..evaluation import Interval
from .markup import Html, tag


def section(name: str, title: str, *content) -> Html:
    """A part of the page that can be linked to."""
    return tag("section", tag("h2", title, id=f"{name}-title"), *content, id=name, aria_labelledby=f"{name}-title")


def table(caption: str, head: list, rows: list[list], *, class_: str | None = None, numeric=()) -> Html:
    """A table with a caption; the first cell of a row names it.

    A wide table scrolls in its own box, which the keyboard can reach.
    """
    header = tag("tr", *(tag("th", h, scope="col", class_="n" if k in numeric else None) for k, h in enumerate(head)))
    body = []
    for row in rows:
        cells = [tag("th", row[0], scope="row")]
        cells += [tag("td", cell, class_="n" if k in numeric else None) for k, cell in enumerate(row[1:], start=1)]
        body.append(tag("tr", *cells))
    inner = tag("table", caption_of(caption), tag("thead", header), tag("tbody", *body), class_=class_)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def caption_of(caption: str) -> Html:
    """What a table is; in a box that scrolls it stays as wide as the page."""
    return tag("caption", tag("span", caption))


def pairs(title: str, entries) -> Html:
    """Names and values."""
    return tag(
        "div",
        tag("h3", title),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries)),
    )


def numbers(summary: str, content: Html) -> Html:
    """Numbers behind a picture, folded."""
    return tag("details", tag("summary", summary), content)


def left_out(n: int, what: str, which: str) -> Html | None:
    """A line that says what is not shown."""
    return tag("p", f"{n} more {what} left out; {which}.", class_="quiet") if n > 0 else None


def cards(entries: list[tuple[str, str, bool, str | None]]) -> Html:
    """Large numbers: name, value, whether it is the one that matters most, and what stands below in small letters."""
    items = [
        tag(
            "div",
            tag("dt", name),
            tag("dd", value),
            tag("dd", note, class_="note") if note else None,
            class_="card main" if main else "card",
        )
        for name, value, main, note in entries
    ]
    return tag("dl", *items, class_="cards")


def between(interval: Interval | None, words) -> str | None:
    """An interval in words; ``words`` says a number."""
    return None if interval is None else f"95\u00a0%: {words(interval.low)} to {words(interval.high)}"


def methods(intervals: dict[str, Interval], names: dict[str, str]) -> Html | None:
    """How the intervals were made."""
    said = [f"{names[name]} by {interval.method}" for name, interval in intervals.items() if name in names]
    if not said:
        return None
    return tag(
        "p",
        f"Intervals of 95\u00a0% say what chance in the choice of these rows may do: {', '.join(said)}.",
        class_="quiet",
    )
