"""Steps against formulas in NumPy, round by round, and what they end a run for."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_wine

from multiboost import AdaBoostMHClassifier, Callback, MultiBoostClassifier, load_model
from multiboost.losses import LOSSES
from multiboost.steps import ArcGvStep, LipschitzStep, OffsetStep, Step

from .conftest import all_rows, half_weights, signs_of


def discrete(step, n_rounds=30, base_learner="stump", **parameters):
    return MultiBoostClassifier(base_learner, n_rounds, votes="discrete", step=step, **parameters)


def stages(clf, X) -> list[np.ndarray]:
    """F before the first round and after every round, (n, K)."""
    begin = np.tile(clf.ensemble_.initial, (len(X), 1))
    return [begin, *(F.reshape(len(X), -1) for F in clf.staged_decision_function(X))]


def rounds(clf, X):
    """F before each round, F after it, and alpha."""
    F = stages(clf, X)
    return zip(F[:-1], F[1:], clf.history_["alpha"], strict=True)


def problem(X, y):
    """Labels Y and weights W0 of classes."""
    Y = signs_of(y, int(np.max(y)) + 1)
    return Y, half_weights(Y)


class Reason(Callback):
    """Keeps why a run has ended."""

    def end(self, run):
        self.stopped = run.stopped


class TestLineSearch:
    @pytest.mark.parametrize("base_learner", ["stump", "tree:5", "product:2"])
    def test_with_exponential_loss_it_is_adaboost(self, base_learner, three_classes):
        """alpha = 1/2 ln((1 - eps) / eps), eps the weighted error of h, to 1e-12; and so is the whole model."""
        X, y = three_classes
        clf = discrete("line-search", 40, base_learner).fit(X, y)
        Y, W0 = problem(X, y)
        for F, after, alpha in rounds(clf, X):
            w = W0 * np.exp(-F * Y)
            eps = w[np.sign(after - F) != Y].sum() / w.sum()
            assert alpha == pytest.approx(0.5 * np.log((1 - eps) / eps), abs=1e-12)
        ada = AdaBoostMHClassifier(base_learner, 40).fit(X, y)
        np.testing.assert_allclose(clf.history_["alpha"], ada.history_["alpha"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(clf.decision_function(X), ada.decision_function(X), rtol=0, atol=1e-11)

    @pytest.mark.parametrize("votes", ["discrete", "real"])
    def test_logistic_loss_has_no_slope_left(self, votes, levels):
        """sum W0 Y h sigma(-2 F Y) is 0 after every round."""
        X, y = levels
        clf = all_rows("stump", 25, votes=votes, loss="logistic", step="line-search").fit(X, y)
        Y, W0 = problem(X, y)
        for F, after, alpha in rounds(clf, X):
            h = (after - F) / alpha
            slope = W0 * Y * h / (1 + np.exp(2 * after * Y))
            assert abs(slope.sum()) < 1e-10 * np.abs(slope).sum()

    @pytest.mark.parametrize("loss", ["exponential", "logistic", "softmax", "hinge"])
    def test_it_is_the_minimum_of_the_risk(self, loss, levels):
        X, y = levels
        clf = all_rows("tree:4", 8, loss=loss, step="line-search").fit(X, y)
        target = clf._target(clf.model_.kind, np.asarray(y), None, None, training=True)
        risk = LOSSES.get(loss)().risk
        for F, after, alpha in rounds(clf, X):
            h = (after - F) / alpha
            best = minimize_scalar(lambda a, F=F, h=h: risk(F + a * h, target), (0, 1), tol=1e-10)
            assert risk(after, target) <= best.fun + 1e-14
            assert alpha == pytest.approx(best.x, rel=1e-5)

    def test_a_learning_rate_shortens_it(self, two_classes):
        X, y = two_classes
        whole, half = (discrete("line-search", 1, learning_rate=rate).fit(X, y) for rate in (None, 0.5))
        assert half.history_["alpha"][0] == 0.5 * whole.history_["alpha"][0]

    def test_where_the_loss_falls_for_ever_the_step_is_adaboosts(self):
        X, y = np.arange(10.0)[:, None], np.arange(10) > 4
        ours, ada = discrete("line-search", 1).fit(X, y), AdaBoostMHClassifier("stump", 1).fit(X, y)
        assert ours.history_["alpha"][0] == ada.history_["alpha"][0] < 14.2


class TestArcGv:
    def test_the_formula(self):
        """Every round by hand: nothing is taken off while a margin is negative."""
        X, y = load_wine(return_X_y=True)
        clf = discrete("arc-gv", 80).fit(X, y)
        Y, W0 = problem(X, y)
        total, positive = 0.0, 0
        for F, after, alpha in rounds(clf, X):
            w = W0 * np.exp(-F * Y)
            edge = (w * np.sign(after - F) * Y).sum() / w.sum()
            rho = max((F * Y).min() / total, 0.0) if total else 0.0
            assert alpha == pytest.approx(np.arctanh(edge) - np.arctanh(rho), abs=1e-10)
            total += alpha
            positive += rho > 0
        assert 20 < positive < 80

    def test_it_ends_where_the_margin_cannot_grow(self):
        """A perfect stump has the margin 1."""
        X, y = np.arange(10.0)[:, None], np.arange(10) > 4
        reason = Reason()
        clf = discrete("arc-gv", 5).fit(X, y, callbacks=[reason])
        assert clf.n_iter_ == 1
        assert reason.stopped == ArcGvStep.ending


class TestLipschitz:
    @pytest.mark.parametrize("votes", ["discrete", "real"])
    @pytest.mark.parametrize("base_learner", ["stump", "tree:4", "product:2"])
    def test_every_round_lowers_the_risk_as_the_theorem_says(self, base_learner, votes, levels):
        """C = sum W0 ln(1 + exp(-2 F Y)) falls by <C', h>^2 / (2 ||h||^2) or more: L is 1."""
        X, y = levels
        clf = all_rows(base_learner, 40, votes=votes, loss="logistic", step="lipschitz").fit(X, y)
        Y, W0 = problem(X, y)

        def cost(F):
            return (W0 * np.log1p(np.exp(-2 * F * Y))).sum()

        for F, after, alpha in rounds(clf, X):
            h = (after - F) / alpha
            inner = (W0 * 2 * Y * h / (1 + np.exp(2 * F * Y))).sum()
            norm = (W0 * h**2).sum()
            assert alpha == pytest.approx(inner / norm, rel=1e-9)
            assert cost(F) - cost(after) >= inner**2 / (2 * norm) - 1e-15

    def test_hinge_too(self, levels):
        X, y = levels
        clf = discrete("lipschitz", 30, loss="hinge").fit(X, y)
        Y, W0 = problem(X, y)
        for F, after, alpha in rounds(clf, X):
            inner = (W0 * 2 * np.sign(after - F) * Y * np.maximum(1 - F * Y, 0)).sum()
            assert alpha == pytest.approx(inner / 2, rel=1e-9)
            fall = (W0 * (np.maximum(1 - F * Y, 0) ** 2 - np.maximum(1 - after * Y, 0) ** 2)).sum()
            assert fall >= inner**2 / 4 - 1e-15

    def test_it_ends_at_the_minimum(self):
        """One column of two values: the best F is known, and nothing is left to go along."""
        X = np.repeat([0.0, 1.0], 10)[:, None]
        y = np.r_[np.arange(10) < 3, np.arange(10) < 7]
        reason = Reason()
        clf = discrete("lipschitz", 1000, loss="logistic").fit(X, y, callbacks=[reason])
        assert clf.n_iter_ < 1000
        assert reason.stopped in ("no base classifier has a positive edge", LipschitzStep.ending)
        best = 0.5 * np.log(7 / 3)
        np.testing.assert_allclose(clf.decision_function([[0.0], [1.0]]), [-best, best], rtol=1e-7)


class TestOffset:
    def test_the_formula(self, three_classes):
        X, y = three_classes
        clf = discrete(OffsetStep(0.07)).fit(X, y)
        alpha = np.arctanh(clf.history_["edge"]) - np.arctanh(0.07)
        np.testing.assert_allclose(clf.history_["alpha"], alpha, rtol=1e-12)

    def test_no_offset_is_adaboost(self, three_classes):
        X, y = three_classes
        assert discrete("offset:0").fit(X, y).ensemble_.digest() == discrete(None).fit(X, y).ensemble_.digest()

    def test_it_ends_where_no_edge_is_above(self, three_classes):
        X, y = three_classes
        edges = discrete(None, 200).fit(X, y).history_["edge"]
        theta = float(np.quantile(edges, 0.5))
        reason = Reason()
        clf = discrete(OffsetStep(theta), 5000).fit(X, y, callbacks=[reason])
        assert clf.n_iter_ < 5000
        assert reason.stopped == f"no base classifier has an edge above theta = {theta:g}"
        assert (clf.history_["edge"] > theta).all()
        with pytest.warns(UserWarning, match=r"nothing can be learned .* has an edge above theta = 0\.9"):
            discrete("offset:0.9").fit(X, y)


@dataclass(frozen=True)
class ThreeRounds(Step):
    name = "three rounds"
    ending = "three are enough"

    def size(self, h, edge, run):
        return 0.1 if run.n_rounds < 3 else 0.0


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_a_step_ends_the_run(subsample, two_classes, capsys):
    """Also where rounds see a sample: all samples are tried first."""
    X, y = two_classes
    clf = MultiBoostClassifier("stump", 10, loss="exponential", step=ThreeRounds(), subsample=subsample, verbose=1)
    assert clf.fit(X, y).n_iter_ == 3
    assert "stopped after 3 rounds: three are enough" in capsys.readouterr().err


SETTINGS = {
    "line-search": {"step": "line-search", "votes": "discrete"},
    "line-search, sampled": {"step": "line-search", "loss": "logistic", "subsample": 0.5},
    "arc-gv": {"step": "arc-gv", "votes": "discrete"},
    "offset": {"step": OffsetStep(0.02), "votes": "discrete"},
    "offset by name": {"step": "offset:0.02", "votes": "discrete"},
    "lipschitz": {"step": "lipschitz", "votes": "discrete", "loss": "logistic"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_saved_and_resumed_bit_for_bit(setting, tmp_path):
    X, y = load_wine(return_X_y=True)
    parameters = {"base_learner": "stump", **SETTINGS[setting]}
    whole = MultiBoostClassifier(n_estimators=60, **parameters).fit(X, y)
    path = tmp_path / "half.mb"
    MultiBoostClassifier(n_estimators=30, **parameters).fit(X, y, checkpoint=path)
    resumed = MultiBoostClassifier(n_estimators=60, **parameters).fit(X, y, resume=path)
    warm = MultiBoostClassifier(n_estimators=30, warm_start=True, **parameters).fit(X, y)
    warm.set_params(n_estimators=60).fit(X, y)
    whole.save(tmp_path / "whole.mb")
    loaded = load_model(tmp_path / "whole.mb")
    assert {clf.ensemble_.digest() for clf in (whole, resumed, warm, loaded)} == {whole.ensemble_.digest()}
    assert loaded.plan_ == whole.plan_
    assert loaded.plan_.step == whole.plan_.step


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"step": "lipschitz"}, "step='lipschitz' needs a loss of bounded curvature.*exponential loss has no bound"),
        ({"step": "lipschitz", "loss": "softmax"}, "the softmax loss has no bound"),
        ({"step": "arc-gv", "votes": "real"}, "step='arc-gv' is made for votes='discrete' and loss='exponential'"),
        ({"step": "arc-gv", "loss": "logistic"}, "step='arc-gv' is made for .* the logistic loss"),
        ({"step": "offset", "loss": "logistic"}, "step='offset' is made for .* the logistic loss"),
        ({"step": "alpha", "loss": "logistic"}, "goes with loss='exponential', or with step='line-search'"),
        ({"step": "offset:small"}, "step='offset:small': 'small' is not a number"),
        ({"step": "offset:1.5"}, "theta of the step 'offset' must be at least 0 and below 1; got 1.5"),
        ({"step": "arc-gv:3"}, "step='arc-gv:3': 'arc-gv' has no parameter to set"),
        ({"step": "offset", "learning_rate": 0.1}, "the step 'offset' has no rate"),
    ],
)
def test_steps_that_cannot_be(parameters, message):
    """Before anything is read: `check_parameters` says so."""
    with pytest.raises(ValueError, match=message):
        MultiBoostClassifier(**{"votes": "discrete", **parameters}).check_parameters()
