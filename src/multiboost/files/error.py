"""The error of a data file: which file, which line, what is wrong, what to do."""

from __future__ import annotations


class FileError(ValueError):
    """A data file that cannot be read or written.

    Attributes
    ----------
    file : str
        As the user named it.
    line : int or None
        Counted from 1, where one line is to blame.
    problem : str
        What is wrong and what helps.
    """

    def __init__(self, file, problem: str, line: int | None = None):
        self.file = str(file)
        self.line = line
        self.problem = problem
        place = self.file if line is None else f"{self.file}, line {line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self):
        return FileError, (self.file, self.problem, self.line)


def shorten(text: str, length: int = 60) -> str:
    """A value as messages quote it, not longer than a line can bear."""
    return repr(text if len(text) <= length else text[:length] + "...")
