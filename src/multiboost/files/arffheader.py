"""The head of an ARFF file: its attributes, and the tokens that head and data share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .error import FileError, shorten

# A quoted text with its escapes.  Alternatives begin with different characters and repetitions inside
# repetitions are possessive, so that matching is linear in whatever a file holds.
_QUOTED = r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\""""
_INSIDE = rf"""(?:[^{{}}'"]++|{_QUOTED})*+"""
_ENTRY = re.compile(rf"""[ \t]*(?P<value>{_QUOTED}|\{{{_INSIDE}\}}|[^,'"{{ \t][^,]*|)[ \t]*(?P<end>,|$)""")
_WORD = re.compile(rf"""[ \t,]*(?P<value>{_QUOTED}|[^ \t,'"]+)(?=[ \t,]|$)""")
_SPECIAL = re.compile(r"""%|['"]""")
_CLOSING = {"'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'"), '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')}
_NAME = re.compile(rf"""(?P<name>{_QUOTED}|[^ \t{{'"][^ \t{{]*)[ \t]*(?P<rest>.*)""")
_BRACES = re.compile(rf"""\{{(?P<inside>{_INSIDE})\}}[ \t]*(?:,[ \t]*(?P<tail>.+))?""")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE | re.ASCII)
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One declared attribute.

    Attributes
    ----------
    name : str
    kind : {"number", "nominal", "text"}
    categories : list of str
        Of a nominal attribute, in the file's order.
    code : dict
        Number of each category.
    line : int
    """

    name: str
    kind: str
    line: int
    categories: list[str] = field(default_factory=list)
    code: dict[str, int] = field(default_factory=dict)


def unquote(text: str) -> str:
    """A quoted text without its quotes and escapes; any other text as it is."""
    if text[:1] not in ("'", '"'):
        return text
    return _ESCAPE.sub(_unescape, text[1:-1]) if "\\" in text else text[1:-1]


def _unescape(match: re.Match) -> str:
    what = match.group(1)
    if len(what) == 5:
        code = int(what[1:], 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    return _CONTROL.get(what, what)


def quote(text: str) -> str:
    """A text as the file must write it to be read back."""
    if text and text != "?" and not re.search(r"[\s,{}%'\"\\]", text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "'"


def without_comment(line: str) -> str:
    """A line up to a % that stands at its beginning or after a blank, outside quotes."""
    if "%" not in line:
        return line.strip(" \t")
    at = 0
    while match := _SPECIAL.search(line, at):
        at = match.end()
        if match[0] != "%":
            closing = _CLOSING[match[0]].match(line, at)
            if closing is None:
                break
            at = closing.end()
        elif at == 1 or line[at - 2] in " \t":
            line = line[: at - 1]
            break
    return line.strip(" \t")


def split_values(text: str) -> list[str] | None:
    """Values between commas, or between blanks where there is no comma; None where quotes or braces do not fit.

    Quotes and braces stay on: a bare ? is missing, a quoted one is a text.
    """
    if not text:
        return []
    values: list[str] = []
    at = 0
    while True:
        match = _ENTRY.match(text, at)
        if match is None:
            return None
        values.append(match["value"].rstrip(" \t"))
        at = match.end()
        if not match["end"]:
            break
    # A single value with a blank in it that is no quoted text: blanks are the separators.
    if len(values) == 1 and values[0][0] not in "'\"{" and (" " in text or "\t" in text):
        return split_words(text)
    return values


def split_words(text: str) -> list[str] | None:
    """Words between blanks or commas; None where quotes do not fit."""
    words = []
    at = 0
    text = text.rstrip(" \t")
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            return None
        words.append(match["value"])
        at = match.end()
    return words


def split_braces(text: str) -> tuple[list[str] | None, str]:
    """The words in a leading ``{...}``, and what follows after a comma; None where the braces do not fit."""
    match = _BRACES.fullmatch(text)
    if match is None:
        return None, ""
    return split_words(match["inside"]), match["tail"] or ""


class Header:
    """The attributes of an ARFF file, read block by block.

    Parameters
    ----------
    file : str
    """

    def __init__(self, file: str):
        self.file = file
        self.relation = ""
        self.attributes: list[Attribute] = []
        self._line_of: dict[str, int] = {}

    def feed(self, block: bytes, first: int) -> None:
        """Read lines that stand before ``@data``; ``first`` is the number of the first."""
        for number, line in data_lines(block, first):
            self._read(line, number)

    def _read(self, line: str, number: int) -> None:
        keyword, _, rest = line.replace("\t", " ").partition(" ")
        rest = line[len(keyword) :].strip(" \t")
        keyword = keyword.lower()
        if keyword == "@relation":
            self.relation = unquote(rest)
        elif keyword == "@attribute":
            attribute = self._attribute(rest, number)
            other = self._line_of.setdefault(attribute.name, number)
            if other != number:
                problem = f"two attributes are called {attribute.name!r}, the other in line {other}; rename one"
                raise FileError(self.file, problem, number)
            self.attributes.append(attribute)
        else:
            raise FileError(
                self.file,
                f"{shorten(line)} is neither @relation, @attribute nor @data; a comment begins with %",
                number,
            )

    def _attribute(self, text: str, number: int) -> Attribute:
        match = _NAME.fullmatch(text)
        if match is None or not match["rest"]:
            raise FileError(self.file, f"an attribute needs a name and a type: {shorten(text)}", number)
        name, rest = unquote(match["name"]), match["rest"]
        if rest.startswith("{"):
            return self._nominal(name, rest, number)
        kind = re.split(r"[ \t\[]", rest)[0].lower()
        if kind in _NUMERIC:
            return Attribute(name, "number", number)
        if kind in ("string", "date"):
            return Attribute(name, "text", number)
        raise FileError(
            self.file,
            f"attribute {name!r} has the type {shorten(rest)}; known are numeric, real, integer, string, date and "
            "{value, value, ...}",
            number,
        )

    def _nominal(self, name: str, text: str, number: int) -> Attribute:
        values = split_values(text[1:-1].strip(" \t")) if text.endswith("}") and len(text) > 1 else None
        if values is None or "" in values or any(v[0] == "{" for v in values):
            raise FileError(
                self.file,
                f"the values of attribute {name!r} are not in the form {{value, 'other value', ...}} on one line",
                number,
            )
        categories = [unquote(v) for v in values]
        code: dict[str, int] = {}
        for category in categories:
            if category in code:
                raise FileError(self.file, f"attribute {name!r} declares {category!r} twice", number)
            code[category] = len(code)
        return Attribute(name, "nominal", number, categories, code)


def data_lines(block: bytes, first: int) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blank lines."""
    for number, raw in enumerate(block.split(b"\n"), first):
        line = without_comment(raw.decode())
        if line:
            yield number, line
