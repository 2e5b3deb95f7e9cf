"""Names of plug-ins: for parameters, model files and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

T = TypeVar("T")


def _home(thing) -> str:
    """Where a class is defined."""
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"


class Registry(Generic[T]):
    """Things by their names; what it does not know it refuses.

    Parameters
    ----------
    what : str
        What the things are, for messages.
    """

    def __init__(self, what: str):
        self.what = what
        self._things: dict[str, T] = {}

    def register(self, thing: T) -> T:
        """Make a thing known by its ``name``; also a decorator of classes.

        Parameters
        ----------
        thing : class with a ``name``
            A newer version of the same class takes its place; another class of the same name is refused.
        """
        name = getattr(thing, "name", None)
        if not (isinstance(name, str) and name):
            raise ValueError(f"a {self.what} needs a name, a text that is not empty; got {name!r} of {thing!r}")
        other = self._things.get(name, thing)
        if other is not thing and _home(other) != _home(thing):
            raise ValueError(f"there is a {self.what} {name!r} already, {_home(other)}; choose another name")
        self._things[name] = thing
        return thing

    def get(self, name: str) -> T:
        """The thing of this name.

        Raises
        ------
        ValueError
            Where there is none; it says which there are.
        """
        if name not in self._things:
            close = get_close_matches(str(name), self._things, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"there is no {self.what} {name!r}; there are {', '.join(map(repr, self))}{hint}")
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __contains__(self, name: object) -> bool:
        return name in self._things
