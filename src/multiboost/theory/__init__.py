"""Theory made visible: bounds, margins, the game, complexity, and pruning.

The numbers are exact where they say so, and every class says what its numbers are good for.  ``docs/theory.md`` has
examples.
"""

from .bounds import Bounds, bounds
from .complexity import Complexity, MarginBound, margin_bound, rademacher
from .game import Game, game_value, solve_game
from .margins import MarginDistribution, margins
from .prune import prune

__all__ = [
    "Bounds",
    "Complexity",
    "Game",
    "MarginBound",
    "MarginDistribution",
    "bounds",
    "game_value",
    "margin_bound",
    "margins",
    "prune",
    "rademacher",
    "solve_game",
]
