"""What steps, samplers and their like have in common: a name, numbers, and perhaps something that they learn."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np


class Plugin:
    """A part of the loop, registered by its name: a dataclass whose fields, if any, are numbers or text.

    Whatever it learns from round to round is its ``state``, which checkpoints and model files keep.

    Attributes
    ----------
    name : str
    """

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Its name and parameters, as JSON can hold them."""
        return {"name": self.name, **{name: _plain(getattr(self, name)) for name in parameters_of(self)}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plugin) and type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    def state(self) -> dict[str, np.ndarray]:
        """What it has learned, as arrays by name; nothing unless it learns."""
        return {}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from what `state` returned; {} is a new run.

        Parameters
        ----------
        state : dict of ndarray
        """
        if state:
            raise ValueError(f"{self.name!r} learns nothing, but a state was kept for it: {', '.join(state)}")


def parameters_of(plugin) -> list[str]:
    """Names of the parameters of a plug-in or of its class; one without any need not be a dataclass."""
    return [f.name for f in fields(plugin)] if is_dataclass(plugin) else []


def _plain(value):
    """A number or text without NumPy, or a list of them."""
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def plugin_from(registry, given: dict[str, Any]):
    """The inverse of `Plugin.to_dict`.

    Parameters
    ----------
    registry : Registry of classes
    given : dict
        With a ``name``; the rest are parameters.
    """
    parameters = dict(given)
    kind = registry.get(parameters.pop("name"))
    strange = sorted(set(parameters) - set(parameters_of(kind)))
    if strange:
        raise ValueError(f"the {registry.what} {kind.name!r} has no parameter {strange[0]!r}")
    return kind(**parameters)
