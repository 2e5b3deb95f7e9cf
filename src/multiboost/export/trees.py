"""Terms as trees: for formats that know no shared tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.ensemble import Ensemble
from .exportable import ExportError

_MOST_NODES = 1_000_000  # of all trees together


@dataclass
class PlainTree:
    """A tree as lists, a node for each place; the root is node 0.

    Attributes
    ----------
    test : list of int
        Number of the ensemble's test; -1 in leaves.
    leaf : list of int
        Number of the ensemble's leaf; -1 in tests.
    left, right : list of int
        Nodes; -1 in leaves.
    depth : int
        Tests on the longest way.
    """

    test: list[int] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    depth: int = 0

    def __len__(self) -> int:
        return len(self.test)


def plain_trees(ensemble: Ensemble, what: str) -> list[PlainTree]:
    """All terms as trees: a test that several others lead to is there once for each of them.

    Parameters
    ----------
    ensemble : Ensemble
    what : str
        The format, for messages.
    """
    found, room = [], _MOST_NODES
    for root in ensemble.root.tolist():
        tree = PlainTree()
        todo: list[tuple[int, int, list[int] | None, int]] = [
            (root, 0, None, -1)
        ]  # what, how deep, whose child, of which node
        while todo:
            number, depth, siblings, parent = todo.pop()
            node = len(tree)
            if siblings is not None:
                siblings[parent] = node
            tree.test.append(number if number >= 0 else -1)
            tree.leaf.append(-1 if number >= 0 else -1 - number)
            tree.left.append(-1)
            tree.right.append(-1)
            tree.depth = max(tree.depth, depth)
            if number >= 0:
                left, right = ensemble.child[number].tolist()
                todo += [(right, depth + 1, tree.right, node), (left, depth + 1, tree.left, node)]
            if len(tree) > room:
                raise ExportError(
                    f"{what} knows trees only; with a copy for every way to a shared test the model would have more "
                    f"than {_MOST_NODES} nodes. Use smaller trees, or products outside trees, such as product:2/tree:8"
                )
        room -= len(tree)
        found.append(tree)
    return found
