"""Names and numbers as C99 writes them: whatever a column or a class is called, the text stays C."""

from __future__ import annotations

import re

import numpy as np

from .exportable import ExportError

_WIDTH = 100
_LONGEST = 4000  # bytes of a string literal; C99 promises room for 4095
_IDENTIFIER = 40  # characters of a name inside an identifier; C99 promises to tell 63 apart


def is_identifier(name: str) -> bool:
    """Whether a text can begin the identifiers of a C file."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name) is not None


def identifier(text: str) -> str:
    """A text as the beginning of identifiers: other characters become underscores."""
    found = re.sub(r"[^A-Za-z0-9_]+", "_", text)[:31]
    return found if is_identifier(found) else f"m{found}"[:31]


def distinct_identifiers(names: list[str]) -> list[str]:
    """Names as the ends of identifiers, all distinct: in capitals, cut, and numbered where that is needed."""
    plain = [re.sub(r"[^A-Z0-9_]+", "_", name.upper())[:_IDENTIFIER].strip("_") for name in names]
    count = {name: plain.count(name) for name in set(plain)}

    def end(j: int, name: str) -> str:
        if name and count[name] == 1 and not name[0].isdigit():
            return name
        # The number goes in front: behind, it could make another name.
        return str(j) if name in ("", str(j)) else f"{j}_{name}"

    return [end(j, name) for j, name in enumerate(plain)]


def text(value: str, what: str) -> str:
    """A string literal, or the bytes of one that is too long for a literal, in UTF-8.

    Parameters
    ----------
    value : str
    what : str
        What it names, for messages.
    """
    try:
        raw = value.encode()
    except UnicodeEncodeError as error:
        raise ExportError(f"{what} {value!r} is not Unicode text: {error.reason}") from error
    if b"\0" in raw:
        raise ExportError(f"{what} {value!r} has a zero byte, which ends a text in C; rename it")
    if len(raw) > _LONGEST:
        raise ExportError(f"{what} {value[:40]!r}... has {len(raw)} bytes; C99 promises room for {_LONGEST}: rename it")
    # Octal with three digits ends by itself; a question mark could begin a trigraph.
    plain = {byte: chr(byte) for byte in range(32, 127) if chr(byte) not in '"\\?'}
    return '"' + "".join(plain.get(byte, f"\\{byte:03o}") for byte in raw) + '"'


def number(value: float, precision: str) -> str:
    """A float, all bits of it."""
    if np.isnan(value):
        return "0.0"  # the threshold of a nominal test, which nobody reads
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return float(value).hex() + ("f" if precision == "float" else "")


def integer(value: int) -> str:
    """An integer; the least of 32 bits has no literal in C."""
    return "(-2147483647 - 1)" if value == -(2**31) else str(int(value))


def filled(template: str, **words: str) -> str:
    """A template with its words in capitals replaced, all at once: what is filled in is not looked at again."""
    return re.sub(rf"\b({'|'.join(words)})(?=\b|_)", lambda found: words[found[0]], template)


def braces(entries: list[str]) -> str:
    """An initialiser of one line."""
    return "{" + ", ".join(entries) + "}"


def table(declaration: str, entries: list[str]) -> str:
    """A static table, a few entries to a line; one that would be empty has an entry that nobody reads."""
    lines, line = [], ""
    for entry in entries or ["{0}" if "struct" in declaration else "0"]:
        if line and len(line) + len(entry) > _WIDTH:
            lines.append(line)
            line = ""
        line += entry + ", "
    lines.append(line)
    body = "\n".join("    " + one.rstrip() for one in lines)
    return f"{declaration} = {{\n{body.rstrip(',')}\n}};\n"


def index_type(largest: int) -> str:
    """The smallest signed type for numbers of this size."""
    return "int16_t" if largest < 2**15 else "int32_t"
