"""MDDAG: a sparse decision DAG, learned as the policy of a Markov decision process."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from ..boosting.callbacks import EveryRound
from ..kernels.team import Team
from ..lean.mdp import Process
from ..lean.policy_iteration import PolicyIteration
from ..lean.sarsa import Learning
from ..model.model import Model
from .lean_classifier import LeanClassifier
from .multiboost_classifier import MultiBoostClassifier
from .notices import told_of_compiling
from .parameters import documented
from .threads import thread_count
from .validation import check_callbacks, seed_of


@documented
class MDDAGClassifier(LeanClassifier):
    """Which base classifiers a row needs is learned: before each one it is evaluated, skipped, or the row leaves.

    A row that leaves earns a reward if its answer is right, and has paid beta for each base classifier that was
    evaluated. The policy that is worth most on the training set is kept (Kegl 2011, section 3.6).  Binary and
    multi-class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        The base classifiers, and ``model_.policy``, the table of actions.
    progress_ : dict of ndarray
        After each block of episodes, or each iteration: ``objective``, the mean reward minus costs on the training set,
        and ``best``, the largest so far.
    classes_, plan_, n_features_in_, feature_names_in_
        As those of the estimator.

    Notes
    -----
    The state is the score of a binary model.  For several classes it is the scores of all of them, where a table of
    that size has at most four million values, and else the scores of the two best labels.

    Rewards are functions of the margin rho of the right class, which of binary models is y F.  "indicator" is 1 where
    rho > 0.  "exponential" is exp(rho), where rho is divided by the sum of the sizes of all votes.  "logistic" is 1 -
    log2(1 + exp(-rho)), "hinge" is min(1, rho).  A row of which nothing was evaluated earns nothing.

    References
    ----------
    B. Kegl, "Contributions to machine learning: the unsupervised, the supervised, and the Bayesian", habilitation
    thesis, Universite Paris Sud, 2011, section 3.6.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from multiboost import AdaBoostMHClassifier, MDDAGClassifier
    >>> X, y = make_classification(1000, random_state=0)
    >>> full = AdaBoostMHClassifier("stump", n_estimators=100).fit(X, y)
    >>> lean = MDDAGClassifier(full, beta=0.01, n_episodes=50_000).fit(X, y)
    >>> bool(lean.n_evaluated(X).mean() < 20), bool(lean.score(X, y) > 0.85)
    (True, True)
    """

    _kinds = ("binary", "multiclass")
    _goes_on = True

    def __init__(
        self,
        estimator=None,
        beta=0.01,
        reward="indicator",
        costs=None,
        class_weight=None,
        actions=("EVAL", "SKIP", "QUIT"),
        learner="sarsa",
        n_episodes=1_000_000,
        block=10_000,
        trace=0.95,
        rate=0.2,
        epsilon=0.3,
        n_cells=31,
        initial_value=1.0,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.estimator = estimator
        self.beta = beta
        self.reward = reward
        self.costs = costs
        self.class_weight = class_weight
        self.actions = actions
        self.learner = learner
        self.n_episodes = n_episodes
        self.block = block
        self.trace = trace
        self.rate = rate
        self.epsilon = epsilon
        self.n_cells = n_cells
        self.initial_value = initial_value
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, alone or together; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        super().check_parameters()
        known = ("EVAL", "SKIP", "QUIT")
        if not set(self.actions) <= set(known) or "EVAL" not in self.actions or len(self.actions) < 2:
            raise ValueError(f"actions must be EVAL and at least one of SKIP and QUIT; got {self.actions!r}")

    def fit(self, X, y, *, callbacks=None):
        """Learn the policy; and before it the estimator, if that is not fitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        callbacks : list of Callback, default=None
            `TimeLimit`, `Progress`, `Log`, `StopOnInterrupt`, or your own: a round is a block of episodes.

        Returns
        -------
        self
        """
        self.check_parameters()
        every = [EveryRound()] if self.verbose else []
        watching = [*every, *check_callbacks(callbacks)]
        for callback in watching:
            callback.begin_fit()
        if self.reward is None:
            raise ValueError("reward is None: it was a function, which a model file does not keep; set it again")
        base = self._base(X, y)
        table, label = self._rows(base, X, y)
        model: Model = base.model_
        cost, feature_cost = self._costs(model)
        with Team(thread_count(self.n_jobs)) as team:
            start = model.ensemble.start(table.n_rows, model.start(table, team))
        process = Process(
            model, model.ensemble.rows(table, 0, table.n_rows), start, label, self._weights(label, model), cost,
            feature_cost, float(self.beta), self.reward, tuple(self.actions),
        )  # fmt: skip
        learning = self._learning(process)
        if self.warm_start and hasattr(self, "model_"):
            learning.go_on(self.model_.state)
        for lines in every:
            lines.step = max(1, learning.wanted // 10) if self.verbose == 1 else 1
        with told_of_compiling(watching), Team(thread_count(self.n_jobs)) as team:
            policy = learning.run(team, watching)
        policy.about.update(objective=learning.best_worth, beta=float(self.beta), learner=self.learner)
        self._take(base, policy, state=learning.learned())
        return self

    @property
    def progress_(self) -> dict[str, np.ndarray]:
        """How learning went: ``objective`` and ``best`` after each block or iteration."""
        check_is_fitted(self)
        return dict(zip(("objective", "best"), self.model_.state["mddag.history"], strict=True))

    def _learning(self, process: Process) -> Learning | PolicyIteration:
        seed = seed_of(self.random_state)
        if self.learner == "policy-iteration":
            wanted = max(1, self.n_episodes // self.block)
            return PolicyIteration(
                process, self._train, n_roll_outs=self.block, wanted=wanted, epsilon=self.epsilon, seed=seed
            )
        return Learning(
            process, off_policy=self.learner == "q-learning", n_episodes=self.n_episodes, block=self.block,
            trace=float(self.trace), rate=float(self.rate), epsilon=float(self.epsilon), n_cells=self.n_cells,
            initial_value=self.initial_value, seed=seed,
        )  # fmt: skip

    def _train(self, states: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Model:
        """The classifier of states that is the next policy."""
        policy = MultiBoostClassifier(
            "tree:8", n_estimators=50, loss="exponential", learning_rate=0.5, subsample=1.0, weighting="given",
            max_bins=128 if states.shape[1] == 2 else 32, n_jobs=self.n_jobs, random_state=self.random_state,
        )  # fmt: skip
        return policy.fit(states, labels, label_weight=weights).model_

    def _costs(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Costs of base classifiers, or of columns."""
        nothing = np.zeros(0)
        if self.costs is None:
            return np.ones(model.n_rounds), nothing
        if isinstance(self.costs, dict):
            names = range(model.columns.n) if model.columns.names is None else model.columns.names.tolist()
            strange = [name for name in self.costs if name not in set(names)]
            if strange:
                raise ValueError(f"costs: there is no column {strange[0]!r}")
            found = np.array([float(self.costs.get(name, 0.0)) for name in names])
            # What a FromClassifier computes costs nothing by itself.
            found = np.append(found, np.zeros(len(model.ensemble.phi)))
            costs, kept = found, (np.zeros(model.n_rounds), found)
        else:
            costs = np.asarray(self.costs, dtype=np.float64)
            if costs.shape != (model.n_rounds,):
                raise ValueError(
                    f"costs must be a number for each of the {model.n_rounds} base classifiers, or a dict by column; "
                    f"got shape {costs.shape}"
                )
            kept = costs, nothing
        if not (np.isfinite(costs).all() and (costs >= 0).all()):
            raise ValueError("costs must be finite and not negative")
        return kept

    def _weights(self, label: np.ndarray, model: Model) -> np.ndarray:
        """What the reward of each row is multiplied by."""
        if self.class_weight is None:
            return np.ones(len(label))
        classes = model.kind.classes[0]
        given = self.class_weight
        if isinstance(given, dict):
            unknown = [c for c in given if c not in set(classes.tolist())]
            if unknown:
                raise ValueError(f"class_weight: there is no class {unknown[0]!r}")
            return np.array([float(given.get(c, 1.0)) for c in classes.tolist()])[label]
        return compute_class_weight(given, classes=np.arange(len(classes)), y=label)[label]
