"""The search by bounds finds what searching everything finds: cuts, ties and all."""

import numpy as np
import pytest

from multiboost import MultiBoostClassifier
from multiboost.base import Product, Stump, Tree
from multiboost.base import problem as problems
from multiboost.base.problem import Problem, Pull, Rows, bounds_of, new_payload
from multiboost.criteria.edge import Edge
from multiboost.data import layout as layouts
from multiboost.data.binned import Binned
from multiboost.data.layout import Layout
from multiboost.data.table import DenseTable
from multiboost.kernels.dtypes import FINE_BITS, ROW
from multiboost.kernels.light_rows import SIZES, light_rows_last
from multiboost.kernels.team import Team
from multiboost.kernels.update import chunk_starts, quantise, quantise_calls


def table(kind, n, rng):
    """Columns of few and many values, with missing values, mostly zero, cut off, or copies of each other."""
    real = rng.normal(size=(n, 3))
    few = rng.integers(0, 7, (n, 2)).astype(float)
    X = np.concatenate([real, few, real[:, :1] * -2], axis=1)
    if kind == "clipped":
        X = np.clip(X, -0.7, 0.9)
    if kind == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
    if kind == "sparse":
        X = np.concatenate([X, X[::-1], np.roll(X, 5, axis=0), np.roll(X, 9, axis=0)], axis=1)
        X[rng.random(X.shape) < 0.8] = 0.0
    return X


def pull_of(n, n_labels, spread, rng):
    """G of a round: total weight 1; with a large spread a few rows, and a few labels of each, have almost all of it."""
    g = rng.choice([-1.0, 1.0], (n, n_labels)) * np.exp(spread * rng.normal(size=(n, 1)))
    g *= np.exp(0.5 * spread * rng.normal(size=(n, n_labels)).round())
    g *= rng.integers(1, 4, (n, n_labels))  # so that there are ties
    return g / np.abs(g).sum()


def problem_of(X, pull, team, last_edge):
    """What a base learner is given in such a round."""
    n, n_labels = pull.shape
    layout = Layout(Binned.of(DenseTable(X), 65535), 64, n_threads=team.n_threads)
    criterion = Edge()
    payload = new_payload(criterion, n, n_labels, None)
    chunks = chunk_starts(n, np.zeros(0, np.intp))
    bounds = bounds_of(criterion, layout, n_labels, team.n_threads, chunks.size - 1)
    unit = 2.0**FINE_BITS
    curvature = np.zeros((0, n_labels))
    calls = quantise_calls(criterion.layout, payload, n_labels)
    flat = pull.reshape(-1), curvature.reshape(-1)
    team.run(quantise, calls, *flat, payload, n_labels, chunks, bounds, unit, unit)
    record = Pull(pull, curvature, payload, bounds, unit, unit, unit, chunks)
    rows = Rows(np.arange(n, dtype=ROW), np.zeros(0, ROW))
    return Problem(layout, criterion, record, rows, team, edge=last_edge)


def best_cut(X, G, rows):
    """Every cut of every column between values that occur: (edge, feature, threshold's neighbours, missing right).

    G are integers, so that edges are exact.  The first column wins ties, then the lowest cut, then missing
    values on the right.
    """
    best = None
    total = G[rows].sum(0)
    for j in range(X.shape[1]):
        x = X[rows, j]
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        for k, value in enumerate(values):
            left = x <= value
            for right in (1, 0) if missing.any() else (1,):
                goes_left = left | missing if right == 0 else left
                is_last = k == len(values) - 1
                if is_last and (right == 0 or not missing.any()):
                    continue
                edge = int(np.abs(total - 2 * G[rows[goes_left]].sum(0)).sum())
                if best is None or edge > best[0]:
                    above = np.inf if is_last else values[k + 1]
                    best = edge, j, value, above, right, goes_left
    return best


def integers_of(problem, n):
    """The exact payload as Python sees it."""
    return problem.record.payload.dense.reshape(n, -1)[:, : problem.n_labels].copy()


@pytest.fixture(autouse=True)
def bounded(monkeypatch):
    """Every table has bounds, however few columns."""
    monkeypatch.setattr(layouts, "WIDE", 1)


@pytest.fixture(params=[(256, 0.0), (8, 0.0), (8, 1.0), (4, 16.0)], ids=str)
def search(request, monkeypatch):
    """Groups of a column, and how much weight bounds leave out: from none to almost all."""
    groups, light = request.param
    monkeypatch.setattr(layouts, "_GROUPS", groups)
    monkeypatch.setattr(problems, "_LIGHT_NARROW", light)  # these tables are


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_labels", [1, 3, 4, 10, 26])
@pytest.mark.parametrize("kind", ["plain", "missing", "sparse", "clipped"])
def test_stump(kind, n_labels, n_threads, search):
    """The stump is the best of all cuts."""
    rng = np.random.default_rng(n_labels)
    n = 300
    X = table(kind, n, rng)
    with Team(n_threads) as team:
        for spread in (0.0, 1.0, 4.0):
            problem = problem_of(X, pull_of(n, n_labels, spread, rng), team, 0.05)
            G = integers_of(problem, n)
            edge, feature, below, above, missing_right, _ = best_cut(X, G, np.arange(n))
            dag = Stump().fit(problem).terms[0]
            assert dag.gain[0] == edge / 2.0**FINE_BITS
            assert dag.feature[0] == feature
            assert below <= dag.threshold[0] <= above
            if np.isnan(X[:, feature]).any():
                assert dag.missing_right[0] == missing_right


@pytest.mark.parametrize("wide", [1, 1000], ids=["bounds", "none"])
@pytest.mark.parametrize("others", [[Stump()], [Stump(), Stump()], [Tree(5)], [Stump(), Tree(3)]], ids=str)
@pytest.mark.parametrize("n_labels", [1, 3, 10])
def test_term_of_a_product(n_labels, others, wide, search, monkeypatch):
    """Under virtual labels, y times the votes of the other terms, the stump is the best of all cuts, and votes so."""
    monkeypatch.setattr(layouts, "WIDE", wide)
    rng = np.random.default_rng(n_labels)
    n = 300
    X = table("missing", n, rng).round(1)
    with Team(2) as team:
        problem = problem_of(X, pull_of(n, n_labels, 2.0, rng), team, 0.05)
        G = integers_of(problem, n)
        terms: list = []
        for learner in others:
            terms.append(learner.fit(problem.without(terms)))
        for h in terms:
            G = G * np.where(h.terms[0].values > 0, 1, -1)[h.leaf[0]]
        edge, feature, below, above, _, goes_left = best_cut(X, G, np.arange(n))
        dag = Stump().fit(problem.without(terms)).terms[0]
        assert dag.gain[0] == edge / 2.0**FINE_BITS
        assert dag.feature[0] == feature
        assert below <= dag.threshold[0] <= above
        v = np.where(G.sum(0) > 2 * G[goes_left].sum(0), 1.0, -1.0)
        np.testing.assert_array_equal(dag.values, [-v, v])
        tree = Tree(4).fit(problem.without(terms)).terms[0]
        constant = int(np.abs(G.sum(0)).sum())
        assert tree.feature[0] == feature
        assert tree.gain[0] == (edge - constant) / 2.0**FINE_BITS


def test_factors():
    """The votes of a product of cuts are a sign for every sample times one for every label; those of a tree are not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    with Team(1) as team:
        problem = problem_of(X, pull_of(200, 5, 1.0, rng), team, 0.05)
        for learner in (Stump(), Product(2), Product(3)):
            h = learner.fit(problem)
            samples, labels = h.factors
            assert set(np.unique(samples)) <= {-1, 0}
            np.testing.assert_array_equal((1 + 2 * samples[:, None]) * labels, h.signs())
        assert Tree(3).fit(problem).factors is None


@pytest.mark.parametrize("pool", [0, 1 << 20], ids=["anew", "by-subtraction"])
@pytest.mark.parametrize("kind", ["plain", "missing", "sparse", "clipped"])
def test_tree(kind, pool, search, monkeypatch):
    """Every cut of a tree is the best of all cuts of its node, and gains what NumPy says.

    Without room for the histograms of parents those of both children are built from rows, and the root's from
    heavy rows.
    """
    monkeypatch.setattr(problems, "_POOL_BYTES", pool)
    rng = np.random.default_rng(3)
    n, n_labels = 300, 3
    X = table(kind, n, rng)
    with Team(2) as team:
        problem = problem_of(X, pull_of(n, n_labels, 1.0, rng), team, 0.05)
        G = integers_of(problem, n)
        dag = Tree(8).fit(problem).terms[0]
    assert dag.feature.size == 7
    rows_of = {0: np.arange(n)}
    for node in range(dag.feature.size):
        rows = rows_of[node]
        edge, feature, *_, goes_left = best_cut(X, G, rows)
        assert dag.feature[node] == feature
        constant = int(np.abs(G[rows].sum(0)).sum())
        assert dag.gain[node] == (edge - constant) / 2.0**FINE_BITS
        for child, side in zip(dag.child[node], (goes_left, ~goes_left), strict=True):
            if child >= 0:
                rows_of[child] = rows[side]


def test_groups(monkeypatch):
    """Neighbouring bins, about as many samples in each group; frequent values and missing ones are alone."""
    monkeypatch.setattr(layouts, "_GROUPS", 16)
    monkeypatch.setattr(layouts, "_TAIL", np.inf)  # no smaller ones towards the ends
    rng = np.random.default_rng(0)
    x = np.clip(rng.normal(size=2000), -0.8, 1.0)
    x[rng.random(2000) < 0.1] = np.nan
    layout = Layout(Binned.of(DenseTable(x[:, None]), 65535), 64)
    (column,), values = layout.blocks.column, np.unique(x[~np.isnan(x)])
    bins = np.searchsorted(values, x)  # missing values are sorted last
    np.testing.assert_array_equal(layout.blocks.bins, bins)
    first = layout.first_bin
    assert (column["n_bins"], column["n_rows"], first[-1]) == (values.size, first.size - 1, values.size)
    group = np.searchsorted(first, bins, side="right") - 1
    np.testing.assert_array_equal(layout.blocks.codes, group)
    count = np.bincount(group)
    assert first.size - 1 == 16
    assert (first[0], first[1], first[-2]) == (0, 1, values.size - 1)
    assert count[-1] == np.isnan(x).sum()
    assert np.abs(count[1:-2] - count[1:-2].mean()).max() <= 3


@pytest.mark.parametrize("n", [300, 5000, 60_000])
def test_groups_towards_the_ends_of_a_column(n):
    """The fewer samples are outside of a group, the fewer are in it; elsewhere groups have as many as ever."""
    x = np.random.default_rng(0).permutation(n).astype(float)
    layout = Layout(Binned.of(DenseTable(x[:, None]), 65535), 64)
    count = np.diff(np.append(layout.first_bin, n))
    assert count.sum() == n
    size = n / 256
    assert 256 <= count.size <= 256 + 50
    before = np.cumsum(count) - count
    outside = np.minimum(before, n - before - count)
    np.testing.assert_array_less(count, np.ceil(np.minimum(size, np.maximum(size / 32, 0.3 * outside))) + 2)
    assert (count[outside > 4 * size] >= np.floor(size)).all()


def test_pure_leaves_are_not_cut():
    """Where every label has the same sign in all rows, no cut gains anything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    pull = np.abs(rng.normal(size=(200, 2))) * [1.0, -1.0]
    with Team(1) as team:
        h = Tree(4).fit(problem_of(X, pull / np.abs(pull).sum(), team, 0.0))
    assert h.terms[0].feature.size == 0


def test_rounded_payload():
    """Its integers, the mass of rows, and what rounding loses."""
    rng = np.random.default_rng(1)
    n, n_labels = 3000, 5
    with Team(2) as team:
        problem = problem_of(rng.normal(size=(n, 2)), pull_of(n, n_labels, 3.0, rng), team, 0.1)
    G, bounds = integers_of(problem, n), problem.record.bounds
    found = bounds.payload.dense.reshape(n, -1).astype(np.int64)
    lost = np.abs(G - found[:, :n_labels] * 2**bounds.drop)
    assert lost.max() <= 2 ** (bounds.drop - 1)
    assert bounds.lost.sum() == lost.sum()
    np.testing.assert_array_equal(bounds.mass, np.abs(G).sum(1))
    np.testing.assert_array_equal(found[:, n_labels], np.maximum(1, np.abs(found[:, :n_labels]).sum(1)))
    assert not found[:, n_labels + 1 :].any()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_light_rows_last(share):
    """Light rows are at the end, none as heavy as a heavy one, and together have no more than their share."""
    rng = np.random.default_rng(2)
    mass = (np.exp(4 * rng.normal(size=1000)) * 1000).astype(np.int64)
    mass[:5] = 0
    rows = rng.permutation(1000)[:800].astype(ROW)
    found = np.empty_like(rows)
    n_heavy, light = light_rows_last(mass, rows, share, np.zeros((2, SIZES), np.int64), found)
    np.testing.assert_array_equal(np.sort(found), np.sort(rows))
    assert light == mass[found[n_heavy:]].sum() <= share * mass[rows].sum()
    for part in (found[:n_heavy], found[n_heavy:]):
        order = [list(rows).index(row) for row in part]
        assert order == sorted(order)
    if 0 < n_heavy < rows.size:
        assert mass[found[:n_heavy]].min() > mass[found[n_heavy:]].max()


def test_a_run_is_the_same_with_any_bounds(monkeypatch):
    """Many rounds, in which weights gather on few rows: the model does not depend on what bounds leave out."""
    rng = np.random.default_rng(5)
    X = table("missing", 400, rng)
    y = (np.nan_to_num(X[:, 0]) > 0.3).astype(int) + (np.nan_to_num(X[:, 1]) > 0) + (rng.random(400) < 0.05)
    for learner in ("stump", "tree:6", "product:3"):
        digests = set()
        for columns, groups, light in ((1000, 0, 0.0), (1, 65535, 0.0), (1, 16, 0.03), (1, 4, 1.0)):
            monkeypatch.setattr(layouts, "WIDE", columns)  # from so many on there are bounds
            monkeypatch.setattr(layouts, "_GROUPS", groups)
            monkeypatch.setattr(problems, "_LIGHT_NARROW", light)
            model = MultiBoostClassifier(learner, 150, votes="discrete").fit(X, y)
            digests.add(model.ensemble_.digest())
        assert len(digests) == 1


def test_two_problems_with_virtual_labels():
    """Each has its own payloads while both live: learning with one changes nothing of the other."""
    rng = np.random.default_rng(7)
    X = table("plain", 200, rng)
    with Team(1) as team:
        problem = problem_of(X, pull_of(200, 3, 1.0, rng), team, 0.05)
        for learner in (Stump(), Tree(5)):
            h = learner.fit(problem)
            alone = Stump().fit(problem.without([h])).terms[0]
            other = Tree(3).fit(problem.without([h]))
            one, two = problem.without([h]), problem.without([other])
            three = problem.without([other, h])
            for again in (one, two, three):
                Stump().fit(again)
            found = Stump().fit(one).terms[0]
            assert (found.feature[0], found.threshold[0]) == (alone.feature[0], alone.threshold[0])
            np.testing.assert_array_equal(found.values, alone.values)


def test_a_row_drawn_twice():
    rng = np.random.default_rng(8)
    with Team(1) as team:
        problem = problem_of(rng.normal(size=(50, 2)), pull_of(50, 2, 1.0, rng), team, 0.05)
        with pytest.raises(ValueError, match="drawn once only"):
            Stump().fit(problem.on_rows(np.arange(51) % 50, np.zeros(0)))


def test_which_tables_are_bounded(monkeypatch):
    """Wide ones, those with a column of very many bins, and those with coarse blocks."""
    monkeypatch.setattr(layouts, "WIDE", 10)
    X = np.random.default_rng(0).normal(size=(1000, 3))
    assert Layout(Binned.of(DenseTable(X), 65535), 64).bounded
    assert not Layout(Binned.of(DenseTable(X), 200), 64).bounded
    assert not Layout(Binned.of(DenseTable(X.round(1)), 65535), 64).bounded
    assert Layout(Binned.of(DenseTable(np.tile(X.round(1), 4)), 65535), 64).bounded
    assert Layout(Binned.of(DenseTable(X), 200), 64, coarse=True).bounded
