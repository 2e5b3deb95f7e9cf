"""Names from strangers, so that a terminal shows them and does not obey them."""

from __future__ import annotations

from unicodedata import category

_UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of pairs, ends of lines
_TURNS = set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # the direction of the text


def visible(text: object) -> str:
    """Text with control characters as Python writes them: an escape is ``\\x1b``, a new line ``\\n``.

    Parameters
    ----------
    text : str, or anything that has a text
    """
    told = str(text)
    if told.isprintable():  # nearly all of them
        return told
    return "".join(_escaped(c) if c in _TURNS or category(c) in _UNSEEN else c for c in told)


def visible_lines(text: object) -> str:
    """The same of a text of several lines, which stay.

    Parameters
    ----------
    text : str, or anything that has a text
    """
    return "\n".join(map(visible, str(text).split("\n")))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
