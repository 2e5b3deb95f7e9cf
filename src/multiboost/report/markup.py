"""HTML by construction: text is escaped unless it was made here.

Names of classes and columns come from the user's data and may hold anything, so no string
becomes part of a page but through `tag`, `text` or `json_block`.
"""

from __future__ import annotations

import json
from html import escape

from ..visible import visible

_VOID = {"meta", "link", "br", "hr", "input", "path", "line", "rect", "circle"}
_LONGEST = 48  # characters of a name on the page


class Html(str):
    """Markup that needs no escaping any more."""

    __slots__ = ()


def text(value) -> Html:
    """Anything as text, control characters visible; markup stays as it is."""
    return value if isinstance(value, Html) else Html(escape(visible(value), quote=True))


def tag(name: str, /, *children, **attributes) -> Html:
    """An element.

    Parameters
    ----------
    name : str
    *children : str, Html or None
        Strings are escaped, None is left out.
    **attributes : str, number, bool or None
        ``class_`` is class and ``aria_label`` is aria-label; True stands for an attribute
        without a value, None and False leave it out.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{escape(visible(value), quote=True)}"')
    head = f"<{' '.join(parts)}>"
    if name in _VOID:
        return Html(head if name in ("meta", "link", "br", "hr", "input") else f"{head[:-1]}/>")
    return Html(f"{head}{join(children)}</{name}>")


def join(children, between: str = "") -> Html:
    """Pieces one after the other."""
    return Html(between.join(text(child) for child in children if child is not None))


def json_block(data, element_id: str) -> Html:
    """Data inside a page: nothing in it can end the element or begin a comment."""
    body = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        body = body.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(element_id)}">{body}</script>')


def short(name, at_most: int = _LONGEST) -> str:
    """A name that is not too long for a page."""
    name = str(name)
    return name if len(name) <= at_most else f"{name[: at_most - 1]}\u2026"


def capital(words: str) -> str:
    """Words with a large letter at their beginning; the others stay."""
    return words[:1].upper() + words[1:]


_PLAIN = 1e7  # numbers below are written without powers of ten
_RAISED = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")


def number(value, digits: int = 3) -> str:
    """A number for people: ``digits`` significant ones, powers of ten raised, a dash for none."""
    if value is None:
        return "\u2013"
    value = float(value)
    if value.is_integer() and abs(value) < _PLAIN:
        return str(int(value)).replace("-", "\u2212")
    size, _, power = f"{value:.{digits}g}".partition("e")
    if power and 1.0 <= abs(value) < _PLAIN:
        size, power = f"{float(f'{size}e{power}'):.0f}", ""
    size = size.replace("-", "\u2212")
    if not power:
        return size
    raised = f"10{str(int(power)).translate(_RAISED)}"
    return raised if size == "1" else f"{size}\u00b7{raised}"


def percent(value) -> str:
    """A share for people: 1.6 %, 0.03 %."""
    if value is None:
        return "\u2013"
    shown = 100.0 * value
    digits = 0 if shown in (0.0, 100.0) else 1 if shown >= 10.0 else 2
    return f"{shown:.{digits}f}\u00a0%"
