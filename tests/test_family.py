"""Names of the literature and their settings: each row of docs/family.md does what the algorithm of that name says.

Tests write the algorithm down in NumPy and follow the rounds of the model: what is compared are weights, responses,
steps and leaves.
"""

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor

import multiboost
from multiboost import MedianBoostRegressor

from .conftest import ROOT, half_weights, make_levels, signs_of

PAGE = (ROOT / "docs" / "family.md").read_text()
NAMESPACE = {name: getattr(multiboost, name) for name in multiboost.__all__}


def rows_of_the_page() -> dict[str, str]:
    """Names of the literature and settings, as the page has them."""
    found = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) >= 3 and re.fullmatch(r"`[A-Z]\w+\(.*\)`", cells[1]):
            for name in cells[0].split(" / "):
                found[name] = cells[1].strip("`")
    return found


ROWS = rows_of_the_page()
for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):  # the losses that the page defines
    exec(code, {"__name__": "page_of_the_family"})


def setting(name: str, **more):
    """The estimator that the page says, with other parameters, such as rounds, on top."""
    return eval(ROWS[name], dict(NAMESPACE)).set_params(**more)


def numbers(n=300):
    X, y = make_friedman1(n, 5, noise=1.0, random_state=0)
    return X.round(1), y


def labels():
    """Two classes that stumps do not tell apart, and columns of few values."""
    X, y = make_levels(150, 4, 2)
    return X, y


def stages(clf, X):
    """F before each round, and after it, (n, K)."""
    F = [np.tile(clf.ensemble_.initial, (len(X), 1)), *(f.reshape(len(X), -1) for f in clf.staged_decision_function(X))]
    return list(pairwise(F))


def real_stages(reg, X):
    F = [np.tile(reg.ensemble_.initial, (len(X), 1)), *(f.copy() for f in reg._staged_scores(X))]
    return list(pairwise(F))


def leaves(step):
    """Rows that a round moves alike."""
    values = step[:, 0].round(9)
    return [values == value for value in np.unique(values)]


def test_every_row_has_a_test():
    tested = {name for test in globals().values() for name in getattr(test, "rows", ())}
    assert tested == set(ROWS)
    assert len(ROWS) >= 18


@pytest.mark.parametrize("name", ROWS)
def test_every_setting_trains(name):
    """As it stands in the page."""
    is_regressor = "Regressor" in ROWS[name]
    X, y = numbers(120) if is_regressor else labels()
    if name == "AdaBoost.MH" or name == "real AdaBoost.MH":
        X, y = make_levels(150, 4, 3)
    model = setting(name, n_estimators=3).fit(X, np.round(np.abs(y)) if "Poisson" in name else y)
    assert 1 <= model.n_iter_ <= 3


def row(*names):
    def marked(test):
        test.rows = names
        return test

    return marked


@row("AdaBoost", "discrete AdaBoost.M1")
def test_adaboost():
    """err, alpha = 1/2 ln((1 - err) / err), w exp(-+ alpha): Freund and Schapire."""
    X, y = labels()
    for name in ("AdaBoost", "discrete AdaBoost.M1"):
        clf = setting(name, n_estimators=20).fit(X, y)
        Y, w = 2.0 * y - 1, np.full(len(y), 1 / len(y))
        for F, after in stages(clf, X):
            h = np.sign(after - F)[:, 0]
            err = w[h != Y].sum()
            np.testing.assert_allclose(np.abs(after - F), 0.5 * np.log((1 - err) / err), rtol=1e-9)
            w = np.where(h == Y, w / (2 * (1 - err)), w / (2 * err))  # Figure 3.3


@row("AdaBoost.MH")
def test_adaboost_mh():
    X, y = make_levels(150, 4, 3)
    clf = setting("AdaBoost.MH", n_estimators=20).fit(X, y)
    Y = signs_of(y, 3)
    W0 = half_weights(Y)
    for F, after in stages(clf, X):
        w = W0 * np.exp(-F * Y)
        edge = (w * Y * np.sign(after - F)).sum() / w.sum()
        np.testing.assert_allclose(np.abs(after - F), np.arctanh(edge), rtol=1e-9)


@row("real AdaBoost", "real AdaBoost.MH")
def test_real_adaboost():
    """Leaves vote 1/2 ln(W+ / W-), with the weight of a pair more on both sides."""
    for name, n_labels in (("real AdaBoost", 2), ("real AdaBoost.MH", 3)):
        X, y = make_levels(150, 4, n_labels)
        clf = setting(name, n_estimators=8).fit(X, y)
        Y = signs_of(y, n_labels)
        W0 = half_weights(Y)
        for F, after in stages(clf, X):
            w = W0 * np.exp(-F * Y)
            w /= w.sum()
            more = 1 / w.size
            for rows in leaves(after - F):
                plus, minus = (w * (Y > 0))[rows].sum(axis=0), (w * (Y < 0))[rows].sum(axis=0)
                expected = 0.5 * np.log((2 * plus + more) / (2 * minus + more))
                np.testing.assert_allclose((after - F)[rows][0], expected, rtol=1e-7, atol=1e-9)


@row("LogitBoost")
def test_logitboost():
    """Algorithm 16.3: z = (y* - pi) / (pi (1 - pi)), w = pi (1 - pi), f += 1/2 weighted mean of z in the leaf."""
    X, y = labels()
    clf = setting("LogitBoost", n_estimators=3).fit(X, y)
    for F, after in stages(clf, X):
        pi = 1 / (1 + np.exp(-2 * F[:, 0]))
        z, w = (y - pi) / (pi * (1 - pi)), pi * (1 - pi)
        for rows in leaves(after - F):
            expected = 0.5 * np.average(z[rows], weights=w[rows])
            np.testing.assert_allclose((after - F)[rows, 0], expected, rtol=1e-6, atol=1e-9)


@row("multi-class LogitBoost")
def test_multiclass_logitboost():
    """p = softmax(2 F); a leaf moves by the rate times the weighted mean of (y* - p) / (2 p (1 - p)), half of z."""
    X, y = make_levels(150, 4, 3)
    clf = setting("multi-class LogitBoost", n_estimators=4).fit(X, y)
    Y = (signs_of(y, 3) + 1) / 2
    for F, after in stages(clf, X):
        p = np.exp(2 * F) / np.exp(2 * F).sum(axis=1, keepdims=True)
        for rows in leaves(after - F):
            expected = 0.5 * (Y - p)[rows].sum(axis=0) / (2 * p * (1 - p))[rows].sum(axis=0)
            np.testing.assert_allclose((after - F)[rows][0], expected, rtol=1e-5, atol=1e-7)


@row("BinomialBoost")
def test_binomialboost():
    """Least squares of the gradient of the log loss, no weights: cuts and leaves by the mean of 2 (y* - pi)."""
    X, y = labels()
    clf = setting("BinomialBoost", n_estimators=4).fit(X, y)
    for F, after in stages(clf, X):
        r = 2 * (y - 1 / (1 + np.exp(-2 * F[:, 0])))
        step = (after - F)[:, 0]
        for rows in leaves(after - F):
            np.testing.assert_allclose(step[rows], clf.plan_.learning_rate * r[rows].mean(), rtol=1e-5, atol=1e-8)
        tried = [sum(((r[s] - r[s].mean()) ** 2).sum() for s in (X[:, j] > b, X[:, j] <= b))
                 for j in range(4) for b in np.unique(X[:, j])[:-1]]  # fmt: skip
        found = sum(((r[s] - r[s].mean()) ** 2).sum() for s in leaves(after - F))
        assert found == pytest.approx(min(tried), rel=1e-5)


@row("L2Boosting", "least squares boosting", "stochastic gradient boosting", "MART")
def test_l2boosting():
    """Leaves are rate times the mean residual, round by round; scikit-learn's boosting with the same leaves."""
    X, y = numbers()
    reg = setting("L2Boosting", n_estimators=12).fit(X, y)
    kind, rate = reg.model_.kind, reg.plan_.learning_rate
    wanted = (y - kind.center) / kind.scale
    for F, after in real_stages(reg, X):
        for rows in leaves(after - F):
            np.testing.assert_allclose((after - F)[rows, 0], rate * (wanted - F[:, 0])[rows].mean(), atol=1e-7)
    theirs = GradientBoostingRegressor(n_estimators=12, learning_rate=rate, max_depth=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), theirs.predict(X), rtol=1e-5)
    trees = GradientBoostingRegressor(
        n_estimators=5, learning_rate=0.1, max_leaf_nodes=6, max_depth=None, random_state=0
    ).fit(X, y)
    mart = setting("least squares boosting", n_estimators=5).fit(X, y)
    np.testing.assert_allclose(mart.predict(X), trees.predict(X), rtol=1e-4)
    # Every round sees half of the rows: leaves are means of those.
    some = setting("stochastic gradient boosting", n_estimators=3)
    assert some.fit(X, y).plan_.subsample == 0.5
    # Medians for the absolute loss.
    absolute = setting("MART", n_estimators=5).fit(X, y)
    kind, rate = absolute.model_.kind, absolute.plan_.learning_rate
    wanted = (y - kind.center) / kind.scale
    for F, after in real_stages(absolute, X):
        for rows in leaves(after - F):
            middle = np.median((wanted - F[:, 0])[rows])
            np.testing.assert_allclose((after - F)[rows, 0], rate * middle, atol=1e-9)


@row("quantile boosting", "Poisson boosting", "M-regression")
def test_other_losses_of_numbers():
    """What the answers of leaves are is compared in test_regression.py; here that the names mean these losses."""
    X, y = numbers()
    for name, loss in (("quantile boosting", "quantile"), ("Poisson boosting", "poisson"), ("M-regression", "huber")):
        assert setting(name, n_estimators=2).fit(X, np.abs(y)).loss_ == loss


@row("arc-gv")
def test_arc_gv():
    X, y = load_breast_cancer(return_X_y=True)
    clf = setting("arc-gv", n_estimators=150).fit(X, y)
    Y, total, taken = 2.0 * y[:, None] - 1, 0.0, 0
    for (F, after), alpha in zip(stages(clf, X), clf.history_["alpha"], strict=True):
        w = np.exp(-F * Y)
        edge = (w * Y * np.sign(after - F)).sum() / w.sum()
        rho = max((F * Y).min() / total, 0.0) if total else 0.0
        assert alpha == pytest.approx(np.arctanh(edge) - np.arctanh(rho), abs=1e-9)
        total, taken = total + alpha, taken + (rho > 0)
    assert taken > 10


@row("marginal AdaBoost", "regularised boosting with an edge offset")
def test_marginal_adaboost():
    X, y = labels()
    for name in ("marginal AdaBoost", "regularised boosting with an edge offset"):
        clf = setting(name, n_estimators=10).fit(X, y)
        theta = clf.plan_.step.theta
        expected = np.arctanh(clf.history_["edge"]) - np.arctanh(theta)
        np.testing.assert_allclose(clf.history_["alpha"], expected, rtol=1e-9)


@row("AnyBoost")
def test_anyboost():
    """Step <-grad C, h> / (L ||h||^2) for C = sum W0 ln(1 + exp(-2 F Y)): L = 1, and the theorem's decrease."""
    X, y = labels()
    clf = setting("AnyBoost", n_estimators=30).fit(X, y)
    Y = 2.0 * y[:, None] - 1

    def cost(F):
        return np.log1p(np.exp(-2 * F * Y)).mean()

    for F, after in stages(clf, X):
        h = np.sign(after - F)
        inner = (2 * Y * h / (1 + np.exp(2 * F * Y))).mean()
        np.testing.assert_allclose(np.abs(after - F), inner, rtol=1e-8)
        assert cost(F) - cost(after) >= inner**2 / 2 - 1e-15


@row("functional gradient descent with line search")
def test_line_search():
    X, y = labels()
    clf = setting("functional gradient descent with line search", n_estimators=10).fit(X, y)
    Y = 2.0 * y[:, None] - 1
    for F, after in stages(clf, X):
        slope = Y * (after - F) / (1 + np.exp(2 * after * Y))
        assert abs(slope.sum()) < 1e-9 * np.abs(slope).sum()


@row("GentleBoost")
def test_gentleboost():
    """Leaves move by the weighted mean of y with weights exp(-y f): Newton's step of the exponential loss."""
    X, y = labels()
    clf = setting("GentleBoost", n_estimators=10).fit(X, y)
    Y = 2.0 * y - 1
    for F, after in stages(clf, X):
        w = np.exp(-F[:, 0] * Y)
        for rows in leaves(after - F):
            np.testing.assert_allclose((after - F)[rows, 0], np.average(Y[rows], weights=w[rows]), rtol=1e-6, atol=1e-8)


@row("L2-SVM boosting")
def test_hinge():
    X, y = labels()
    clf = setting("L2-SVM boosting", n_estimators=10).fit(X, y)
    assert clf.loss_ == "hinge"
    Y = 2.0 * y - 1
    for F, after in stages(clf, X):
        gap = np.maximum(1 - Y * F[:, 0], 0)
        for rows in leaves(after - F):
            expected = clf.plan_.learning_rate * (Y * gap)[rows].sum() / max((gap[rows] > 0).sum(), 1e-9)
            np.testing.assert_allclose((after - F)[rows, 0], expected, rtol=1e-5, atol=1e-7)


@row("FilterBoost")
def test_filterboost():
    """F grows by alpha h, h of +1 and -1, alpha = 1/2 ln((1/2 + g) / (1/2 - g)) of the estimated edge g."""
    X, y = labels()
    clf = setting("FilterBoost", base_learner="tree:8", n_estimators=5, random_state=0).fit(X, y)
    g = clf.history_["edge"] / 2
    for (F, after), estimate in zip(stages(clf, X), g, strict=True):
        alpha = 0.5 * np.log((0.5 + estimate) / (0.5 - estimate))
        np.testing.assert_allclose(np.abs(after - F), alpha, rtol=1e-9)


@row("MedBoost")
def test_medboost():
    X, y = numbers()
    reg = setting("MedBoost", n_estimators=8, base_learner="tree:12").fit(X, y)
    assert isinstance(reg, MedianBoostRegressor)
    expected = np.arctanh(reg.history_["edge"]) - np.arctanh(reg.gamma)
    np.testing.assert_allclose(reg.history_["alpha"], expected, rtol=1e-9)


@row("componentwise L2Boosting", "sparse boosting", "forward stagewise regression", "matching pursuit")
def test_lines():
    """j = argmin_j sum (r - b_j x_j)^2, b_j = sum x_j r / sum x_j^2, beta_j += nu b_j (Murphy 2012, 16.54 to 16.57)."""
    X, y = numbers()
    X = X - X.mean(axis=0)
    for name in ("componentwise L2Boosting", "matching pursuit"):
        reg = setting(name, n_estimators=30).fit(X, y)
        r, beta = y - y.mean(), np.zeros(X.shape[1])
        for found in reg.coef_path_:
            b = X.T @ r / (X**2).sum(axis=0)
            j = int(np.argmin(((r[:, None] - b * X) ** 2).sum(axis=0)))
            beta[j] += 0.1 * b[j]
            r = r - 0.1 * b[j] * X[:, j]
            np.testing.assert_allclose(found, beta, atol=1e-6)


@row("boosted additive model")
def test_splines():
    """Every round is a function of one column, smoother than a step and never worse than a constant."""
    X, y = numbers()
    reg = setting("boosted additive model", n_estimators=30).fit(X, y)
    for (F, after), j in zip(real_stages(reg, X), reg.ensemble_.along, strict=True):
        step = after - F
        for value in np.unique(X[:, j]):
            assert np.ptp(step[X[:, j] == value]) < 1e-12
    assert (np.diff(reg.history_["risk"]) < 0).all()


@row("BHBoost")
def test_bhboost():
    """s_k = 1/2 ln(p+_k / p-_k), D exp(-y h) / Z, and the phi with the least sum of sqrt(p+ p-)."""
    X, y = labels()
    clf = setting("BHBoost", n_estimators=10).fit(X, y)
    Y, D = 2.0 * y - 1, np.full(len(y), 1 / len(y))
    for F, after in stages(clf, X):
        sums = []
        for x in X.T:
            bins = [x == value for value in np.unique(x)]
            sums.append((bins, [(D[b & (Y > 0)].sum(), D[b & (Y < 0)].sum()) for b in bins]))
        bc = [sum(np.sqrt(plus * minus) for plus, minus in one) for _, one in sums]
        bins, best = sums[int(np.argmin(bc))]
        s = 1 / len(y)
        h = sum(b * 0.5 * np.log((2 * plus + s) / (2 * minus + s)) for b, (plus, minus) in zip(bins, best, strict=True))
        np.testing.assert_allclose((after - F)[:, 0], h, atol=1e-9)
        D = D * np.exp(-Y * h)
        D /= D.sum()


@row("AdaBoost.MH with abstention")
def test_abstention():
    """alpha = 1/2 ln(W+ / W-) and Z = W0 + 2 sqrt(W+ W-)."""
    X, y = make_levels(150, 4, 3)
    clf = setting("AdaBoost.MH with abstention", n_estimators=10).fit(X, y)
    Y = signs_of(y, 3)
    W0 = half_weights(Y)
    for (F, after), alpha, z in zip(stages(clf, X), clf.history_["alpha"], clf.history_["Z"], strict=True):
        w = W0 * np.exp(-F * Y)
        w /= w.sum()
        vote = np.sign(after - F)
        right, wrong, silent = (w[vote * Y == sign].sum() for sign in (1, -1, 0))
        assert alpha == pytest.approx(0.5 * np.log(right / wrong), rel=1e-9)
        assert z == pytest.approx(silent + 2 * np.sqrt(right * wrong), rel=1e-9)
