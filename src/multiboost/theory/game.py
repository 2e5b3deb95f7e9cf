"""Boosting as a game: a distribution over samples against a mixture of base classifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rows import check_classifier, checked, said, target_of


@dataclass(frozen=True)
class Game:
    """The solution of a zero-sum game, by linear programming and its dual.

    Good for: what the rounds of a model could do at best.  The value is the largest minimum margin of any mixture of
    them, and the smallest best edge over all distributions of weights: the two are one number (von Neumann 1928).  Not
    good for: prediction.  The mixture with the largest minimum margin listens to the hardest samples only, and those
    may be mislabelled; with noise it is worse than AdaBoost.

    Attributes
    ----------
    value : float
        Above 0: there is a mixture that is right everywhere.
    mixture : ndarray (columns,)
        The best one for whoever wants much: coefficients of base classifiers, total 1.
    hardest : ndarray (rows,) or (n, K)
        The best one for whoever wants little: the distribution of weights that leaves the least edge, total 1.
    gap : float
        Between the values of the two programs: 0 but for rounding.
    """

    value: float
    mixture: np.ndarray
    hardest: np.ndarray
    gap: float


def solve_game(payoff) -> Game:
    """The value of a matrix game, max over q of min over p of p' M q, and both players' best distributions.

    Parameters
    ----------
    payoff : array (rows, columns)
        M: what the column player wins from the row player.

    Returns
    -------
    Game

    Examples
    --------
    Odd or even: both show one or two fingers; odd sums are won by the column player.

    >>> from multiboost.theory import solve_game
    >>> game = solve_game([[-2, 3], [3, -4]])
    >>> round(12 * game.value, 9), (12 * game.hardest).round(9).tolist()
    (1.0, [7.0, 5.0])
    """
    from scipy.optimize import linprog  # here, for it takes a while

    M = np.asarray(payoff, dtype=np.float64)
    if M.ndim != 2 or M.size == 0 or not np.isfinite(M).all():
        raise ValueError(f"payoff must be a matrix of finite numbers; got the shape {M.shape}")
    # Equal rows are one row of the program, and share its weight.
    rows, number = np.unique(M, axis=0, return_inverse=True)
    n, m = rows.shape
    # Maximise rho, such that M q >= rho, q >= 0, sum q = 1.
    found = linprog(
        c=np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-rows, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"the linear program of the game was not solved: {found.message}")
    mixture = np.maximum(found.x[:m], 0.0)
    mixture /= mixture.sum()
    hardest = np.maximum(-found.ineqlin.marginals, 0.0)
    hardest /= hardest.sum()
    value, other = float((rows @ mixture).min()), float((hardest @ rows).max())
    count = np.bincount(number.ravel(), minlength=n)
    return Game(value, mixture, (hardest / count)[number.ravel()], other - value)


def game_value(clf, X, y) -> Game:
    """The game between the pairs of a sample and a label and the rounds of a model.

    Parameters
    ----------
    clf : fitted classifier
        Its rounds are the columns of the game, each in units of its largest vote.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : labels as in ``fit``

    Returns
    -------
    Game
        ``mixture`` has a coefficient for every round, ``hardest`` a weight for every pair, (n, K), 0 for labels that
        are unknown.  ``margins(clf, X, y).minimum`` is at most ``value``.

    Notes
    -----
    The matrix has a row for every pair and a column for every round, in memory.
    """
    check_classifier(clf, "game_value")
    target = target_of(clf, y)
    known = target.signed != 0
    votes = said(clf, checked(clf, X, target)) * np.sign(target.signed)[:, :, None]
    game = solve_game(votes[known])
    hardest = np.zeros(target.signed.shape)
    hardest[known] = game.hardest
    return Game(game.value, game.mixture, hardest, game.gap)
