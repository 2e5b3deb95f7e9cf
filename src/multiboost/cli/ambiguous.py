"""Names that a csv file cannot tell from numbers."""

from __future__ import annotations

import re

from ..data.categories import text_of
from ..files.delimited import NUMBER_MISSING

_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]+")


def is_ambiguous(name: str) -> bool:
    """Whether a name, read as a number, would become another name: 007, 1.50, NA, but not 7 or red.

    Parameters
    ----------
    name : str
    """
    word = name.strip(" \t")
    if word in NUMBER_MISSING or _HEXADECIMAL.fullmatch(word):
        return True
    try:
        number = float(word)
    except ValueError:
        return False
    if word.lower().lstrip("+-") in ("inf", "infinity", "nan"):
        return True
    return (text_of(int(word)) if re.fullmatch(r"[+-]?\d{1,18}", word) else text_of(number)) != name
