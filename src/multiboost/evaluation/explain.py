"""A model in words: the rules of each round, and what each column contributes.

A round is a product of terms; a term asks tests, one after the other, until a leaf
answers with a vote for every label.  All answers of the terms are multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..visible import visible
from .columns import category_names, column_names, names_in_tests

_LISTED = 6  # categories named in a rule before "and more"
_VOTES = 4  # labels named in a leaf before "and more", in text
_LINES = 40  # of one round's text


@dataclass
class Condition:
    """One test of a term.

    Attributes
    ----------
    column : str
    text : str
        What is asked, such as ``petal width > 0.8``.
    missing : {"yes", "no"}
        How a missing value answers.
    yes, no : int
        Where to go: a test of the term, or below 0 its leaf ``~``.
    gain : float
        What the cut brought in training.
    """

    column: str
    text: str
    missing: str
    yes: int
    no: int
    gain: float


@dataclass
class TermRules:
    """A decision diagram with a vote for every label in each leaf.

    Attributes
    ----------
    tests : list of Condition
        The first one is asked first; none where there is but one leaf.
    leaves : list of list of float
        Votes of each leaf, in the order of the labels; of a curve those at its origin.
    curves : list of (str, list of list of float)
        Where votes are polynomials: of what, such as ``petal width - 1.2``, and in each leaf the coefficients of the
        labels, from the constant on.  Else empty.
    """

    tests: list[Condition]
    leaves: list[list[float]]
    curves: list[tuple[str, list[list[float]]]] = field(default_factory=list)

    def votes_text(self, leaf: int, labels: list[str], max_votes: int) -> str:
        """What a leaf says, in words."""
        if not self.curves:
            return votes_text(self.leaves[leaf], labels, max_votes)
        of, coefficients = self.curves[leaf]
        text = votes_text(self.leaves[leaf], labels, max_votes)
        for power, slopes in enumerate(coefficients[1:], start=1):
            if any(slopes):
                text += f"; times ({of}){f'^{power}' if power > 1 else ''} {votes_text(slopes, labels, max_votes)}"
        return text


@dataclass
class RoundRules:
    """One round of boosting.

    Attributes
    ----------
    round : int
        From 1.
    edge, alpha : float or None
        (3.33) and (3.34); alpha is the learning rate where votes are real.
    Z : float or None
        (3.15); None under losses that have none.
    labels : list of str
    terms : list of TermRules
    """

    round: int
    edge: float | None
    alpha: float | None
    Z: float | None
    labels: list[str]
    terms: list[TermRules]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        n_tests = sum(len(term.tests) for term in self.terms)
        return f"<round {self.round}: {n_tests} {'test' if n_tests == 1 else 'tests'}; print it for its rules>"

    def _repr_html_(self) -> str:
        return f"<b>round {self.round}</b><pre>{escape(str(self))}</pre>"

    def lines(self, max_lines: int = _LINES, max_votes: int = _VOTES) -> list[str]:
        """The round as indented text.

        Parameters
        ----------
        max_lines : int
            What goes beyond is left out, and a last line says so.
        max_votes : int
            Labels named in each leaf, those with the largest votes.
        """
        lines: list[str] = []
        for k, term in enumerate(self.terms):
            if len(self.terms) > 1:
                lines.append("the product of" if k == 0 else "and")
            first = 0 if term.tests else -1
            self._walk(term, first, "  " if len(self.terms) > 1 else "", lines, {}, max_votes)
        if len(lines) > max_lines:
            left_out = len(lines) - max_lines
            lines = lines[:max_lines] + [f"... {left_out} more lines"]
        return [visible(line) for line in lines]

    def _walk(self, term: TermRules, node: int, indent: str, lines: list[str], seen: dict, max_votes: int) -> None:
        if node < 0:
            lines.append(f"{indent}{term.votes_text(~node, self.labels, max_votes)}")
            return
        test = term.tests[node]
        if node in seen:  # an exit that several tests share: say it once
            lines.append(f"{indent}as in line {seen[node]}: if {test.text} ...")
            return
        seen[node] = len(lines) + 1
        lines.append(f"{indent}if {test.text} (missing: {test.missing})")
        self._walk(term, test.yes, indent + "  ", lines, seen, max_votes)
        lines.append(f"{indent}otherwise")
        self._walk(term, test.no, indent + "  ", lines, seen, max_votes)


@dataclass
class Importance:
    """What a column contributes.

    Attributes
    ----------
    name : str
    share : float
        Of the gain of all cuts.
    cuts : int
        How many cuts use it.
    """

    name: str
    share: float
    cuts: int


def votes_text(votes, labels: list[str], max_votes: int = _VOTES) -> str:
    """The largest votes in words: ``setosa: +0.80, versicolor: -0.80``.

    Where all labels get the same vote it is said once.
    """
    votes = np.asarray(votes)
    if votes.size > 1 and np.all(votes == votes[0]):
        return f"all labels: {votes[0]:+.3g}"
    order = np.argsort(-np.abs(votes), kind="stable")
    shown = sorted(order[:max_votes].tolist())
    # The only target of a regression has no name.
    text = ", ".join(f"{labels[k]}: {votes[k]:+.3g}" if labels[k] else f"{votes[k]:+.3g}" for k in shown)
    return text if len(shown) == votes.size else f"{text} and {votes.size - len(shown)} more"


def listed(names: list[str], at_most: int = _LISTED) -> str:
    """A list of names, shortened: ``red, green, blue and 12 more``."""
    if len(names) <= at_most:
        return ", ".join(names)
    return f"{', '.join(names[: at_most - 1])} and {len(names) - at_most + 1} more"


def goes_right(ensemble, test: int, n_categories: int) -> np.ndarray:
    """Which categories of a nominal test go right, a mask; their numbers may be asked like any other."""
    if ensemble.set_start[test] < 0:
        return np.arange(n_categories) > ensemble.threshold[test]
    first = ensemble.set_start[test]
    part = ensemble.sets[first : first + (n_categories + 7) // 8]
    return np.unpackbits(part, count=n_categories, bitorder="little").astype(bool)


def _condition(clf, test: int, names: list[str], position: dict[int, int]) -> Condition:
    e = clf.ensemble_
    j = int(e.feature[test])
    left, right = (position[int(c)] for c in e.child[test])
    missing = bool(e.missing_right[test])
    yes, no = right, left
    if j >= clf.n_features_in_:
        text = f"{names[j]} says yes"
    elif np.isneginf(e.threshold[test]):
        text = f"{names[j]} is known"
    elif category_names(clf, j) is None:
        text = f"{names[j]} > {e.threshold[test]:.6g}"
    else:
        categories = category_names(clf, j) or []
        inside = goes_right(e, test, len(categories))
        if 2 * inside.sum() > inside.size:  # the shorter list is the clearer question
            inside, yes, no, missing = ~inside, left, right, not missing
        chosen = [name for name, is_in in zip(categories, inside, strict=True) if is_in]
        if not chosen:
            text = f"{names[j]} is in no category"
        elif len(chosen) == 1:
            text = f"{names[j]} is {chosen[0]}"
        else:
            text = f"{names[j]} is one of {listed(chosen)}"
    return Condition(names[j], text, "yes" if missing else "no", yes, no, float(e.gain[test]))


def _term(clf, term: int, names: list[str]) -> TermRules:
    """The tests that can be reached, numbered in the order in which they are met."""
    e = clf.ensemble_
    tests: list[int] = []
    leaves: list[int] = []
    position: dict[int, int] = {}
    waiting = [int(e.root[term])]
    while waiting:
        node = waiting.pop()
        if node in position:
            continue
        if node < 0:
            position[node] = ~len(leaves)
            leaves.append(~node)
            continue
        position[node] = len(tests)
        tests.append(node)
        waiting += [int(e.child[node, 0]), int(e.child[node, 1])]
    if not (e.is_curved and e.along[term] >= 0):
        return TermRules([_condition(clf, k, names, position) for k in tests], [e.values[k].tolist() for k in leaves])
    name, degree = names[e.along[term]], int(e.degree[term])
    curves = []
    for k in leaves:
        of = f"{name} - {e.origin[k]:.6g}" if e.origin[k] >= 0 else f"{name} + {-e.origin[k]:.6g}"
        curves.append((name if e.origin[k] == 0 else of, e.values[k : k + degree + 1].tolist()))
    if len(leaves) == 1:  # its tests only say where the column is
        tests = []
    conditions = [_condition(clf, k, names, position) for k in tests]
    return TermRules(conditions, [e.values[k].tolist() for k in leaves], curves)


def round_rules(clf, rounds=None) -> list[RoundRules]:
    """The rules of some rounds.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    rounds : iterable of int, default=None
        Counted from 1; None means all.

    Returns
    -------
    list of RoundRules
        ``print`` shows a round in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier, round_rules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=2).fit(X, y)
    >>> print(round_rules(clf)[0])
    if petal length (cm) > 2.45 (missing: yes)
      0: -0.805, 1: +0.805, 2: +0.805
    otherwise
      0: +0.805, 1: -0.805, 2: -0.805
    """
    check_is_fitted(clf)
    e = clf.ensemble_
    wanted = range(1, e.n_rounds + 1) if rounds is None else [int(t) for t in rounds]
    names, labels = names_in_tests(clf), clf.model_.kind.label_names()
    found = []
    for t in wanted:
        if not 1 <= t <= e.n_rounds:
            raise ValueError(f"rounds are counted from 1 to {e.n_rounds}; got {t}")
        terms = [_term(clf, k, names) for k in range(e.first_term[t - 1], e.first_term[t])]
        edge, alpha, energy = (_history(clf, name, t) for name in ("edge", "alpha", "Z"))
        found.append(RoundRules(t, edge, alpha, energy, labels, terms))
    return found


def _history(clf, name: str, t: int) -> float | None:
    values = clf.history_.get(name)
    if values is None or len(values) < t or not np.isfinite(values[t - 1]):
        return None
    return float(values[t - 1])


def named_importances(clf) -> list[Importance]:
    """Columns in the order of their importance; those that no cut uses are left out.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.

    Returns
    -------
    list of Importance
    """
    check_is_fitted(clf)
    share, cuts, names = clf.feature_importances_, clf.ensemble_.uses(clf.n_features_in_), column_names(clf)
    order = np.argsort(-share, kind="stable")
    return [Importance(names[j], float(share[j]), int(cuts[j])) for j in order if cuts[j] > 0]
