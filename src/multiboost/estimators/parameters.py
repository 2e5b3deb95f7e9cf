"""Every parameter of every estimator, declared once: for checks, the command line, docstrings and docs.

Without scikit-learn and without kernels: the command line reads this before it knows what to do.
"""

from __future__ import annotations

import inspect
import math
import textwrap
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    name : str
    says : str
        Its type, as docstrings say it.
    help : str
        Whole sentences.
    kind : type or None
        ``int``, ``float`` or ``str`` where it is checked here; None where whoever uses it does.
    low, high : float
        Its range; ``above`` says that ``low`` is not in it.
    choices : tuple of str
        The words it may be; () for any.
    is_open : bool
        Whether None is allowed, which leaves the choice to us.
    option : str
        Its name at the command line; empty where it has none.
    several : bool
        Whether the option may be given several times, for a list of numbers.
    by_name : bool
        Whether the option is NAME=NUMBER, and may be given several times, for a dict.
    short : str
        What the command line's help says.
    """

    name: str
    says: str
    help: str
    kind: type | None = None
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    choices: tuple[str, ...] = ()
    is_open: bool = False
    option: str = ""
    several: bool = False
    by_name: bool = False
    short: str = ""

    def check(self, value) -> None:
        """Refuse a value that it cannot be."""
        if value is None and self.is_open:
            return
        if self.choices:
            check_choice(self.name, value, self.choices)
        elif self.kind in (int, float):
            check_number(
                self.name, value, Integral if self.kind is int else Real, self.low, self.high, open_low=self.above
            )


def check_number(name: str, value, kind, low, high=math.inf, *, open_low: bool = False):
    """A number in a range, or an error that names the parameter."""
    ok = isinstance(value, kind) and not isinstance(value, bool)
    if ok and not (low < value if open_low else low <= value):
        ok = False
    if ok and value > high:
        ok = False
    if not ok:
        wanted = "a whole number" if kind is Integral else "a number"
        bounds = f"above {low}" if open_low else f"of at least {low}"
        bounds += f" and at most {high}" if math.isfinite(high) else ""
        raise ValueError(f"{name} must be {wanted} {bounds}; got {value!r}")
    return value


def check_choice(name: str, value, choices):
    """One of some words, or an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "base_learner", "str or BaseLearner",
            'What is boosted: ``Stump()``, ``Tree(n_leaves=...)``, ``Product(n_terms=...)``, ``Selector()``, '
            '``Indicator()``, ``Column(...)``, ``Bins(n_bins=...)``, ``FromClassifier(...)``, or a short form such as '
            '``"tree:50"``, ``"tree:8/product:2"`` or ``"column:spline"``.  ``"tree"`` leaves the size to us.',
            option="base", short="stump, tree:50, product:3, selector, column:spline, bins:32, tree:8/product:2 ...",
        ),
        Parameter(
            "n_estimators", "int or None", "Rounds of boosting.  None leaves it to us.",
            int, 1, is_open=True, option="rounds", short="Rounds of boosting.",
        ),
        Parameter(
            "votes", '{"real", "discrete", "ternary"}',
            "Real votes are log odds or Newton steps, leaf by leaf and label by label.  Discrete votes are +1 "
            "and -1 with one coefficient alpha for the whole base classifier, (3.26).  Ternary votes may be 0, too: "
            "labels abstain where that makes Z less.",
            str, choices=("real", "discrete", "ternary"), option="votes", short="real, discrete or ternary.",
        ),
        Parameter(
            "loss", "str or Loss",
            'Of labels: "exponential" is AdaBoost.MH, "logistic" is LogitBoost, "softmax" its multinomial form, '
            '"hinge" the squared hinge, "auto" the better one of the first two on held-out rows.  Of numbers: '
            '"squared", "absolute", "huber", "quantile", "poisson".  Of rankings: "lambdarank", or one of labels, for '
            'which grades are classes.  Or the name of a registered loss, or a Loss.',
            option="loss",
            short="auto, exponential, logistic, softmax, hinge; squared, absolute, huber, quantile, poisson; "
            "lambdarank.",
        ),
        Parameter(
            "quantile", "float or list of float",
            'Which quantiles ``loss="quantile"`` predicts, in (0, 1).  Several are one model, with a column for each.',
            option="quantile", several=True, short="In (0, 1); repeat it for several. Sets --loss quantile.",
        ),
        Parameter(
            "gain", '{"exponential", "linear"}',
            "What a document of grade y is worth: 2^y - 1 or y.",
            str, choices=("exponential", "linear"), option="gain",
            short="Of a grade y: exponential, 2^y - 1, or linear.",
        ),
        Parameter(
            "eps", "float or None",
            "Of median boosting: how near a base regressor must come to be right about a row, in units of y; None is "
            "the distance within which the first one has nine tenths of the rows.  Of FilterBoost: the error at which "
            "it ends.",
            float, 0, above=True, is_open=True,
        ),
        Parameter(
            "gamma", "float",
            "Margin that the vote aims at, at least 0 and below 1: (1 + gamma) / 2 of it should be right about a row.",
            float, 0, 1,
        ),
        Parameter(
            "criterion", "str or None",
            'What the best cut is: "edge", "ternary", "z" or "newton", or the name of a registered criterion.  None is '
            "the edge for discrete votes, Newton's gain for losses with a curvature, and Z for the others.",
            is_open=True, option="criterion", short="edge, ternary, z or newton; else that of votes and loss.",
        ),
        Parameter(
            "step", "str, Step or None",
            'How far to go along a base classifier: "alpha" (3.34), "rate", "line-search", "arc-gv", "offset" or '
            '"lipschitz", the name of a registered step, or a Step.  A number after a colon is its parameter, as in '
            '"offset:0.1".  None is alpha for discrete votes and the learning rate for real ones.',
            is_open=True, option="step",
            short="alpha, rate, line-search, arc-gv, offset:0.1 or lipschitz; else that of the votes.",
        ),
        Parameter(
            "learning_rate", "float or None", "Factor of every step, in (0, 1].  None leaves it to us.",
            float, 0, 1, above=True, is_open=True, option="learning_rate", short="Above 0, at most 1.",
        ),
        Parameter(
            "subsample", "float or None",
            "Share of the samples, drawn afresh and without replacement, that every round sees, in (0, 1].  None "
            "leaves it to us.",
            float, 0, 1, above=True, is_open=True, option="subsample",
            short="Share of the rows that a round sees, at most 1.",
        ),
        Parameter(
            "row_sampler", "str, RowSampler or None",
            'Which samples a round sees: "all", "share", "mvs", "trimming" or the name of a registered sampler, or a '
            'RowSampler.  A number after a colon is its share, as in "mvs:0.2" or "trimming:0.9".  None is '
            "``subsample``.",
            is_open=True, option="row_sampler",
            short="all, share:0.5, mvs:0.2 or trimming:0.9; else that of --subsample.",
        ),
        Parameter(
            "column_sampler", "str, ColumnSampler or None",
            'Which columns a round may cut: "all", "lazy", "ucb", "exp3p" or the name of a registered sampler, or a '
            'ColumnSampler.  A number after a colon is its size, as in "lazy:0.1" or "ucb:20".  None is all.',
            is_open=True, option="column_sampler", short="all, lazy:0.1, ucb:10 or exp3p:10.",
        ),
        Parameter(
            "label_sampler", "str, LabelSampler or None",
            'By which labels the cuts of a round are chosen, for targets of many: "all", "heaviest", "random" or the '
            'name of a registered sampler, or a LabelSampler.  A number after a colon is its size, as in '
            '"heaviest:0.1" or "random:20".  Votes are of all labels.  None is all.',
            is_open=True, option="label_sampler", short="all, heaviest:0.1 or random:0.1.",
        ),
        Parameter(
            "init", 'None, "constant", float, list of float or fitted estimator',
            'Where boosting starts.  "constant" is the best constant.  Numbers are scores of the labels, or '
            "predictions of the targets.  A fitted estimator gives the scores of every row: one of ours its own, any "
            "other classifier half the log odds of its probabilities, or its decisions, any regressor its predictions. "
            " None is 0 for the exponential and the hinge loss, and the best constant for all others.",
            is_open=True, option="init", short="constant, or a model file to start from.",
        ),
        Parameter(
            "weighting", '{"auto", "uniform", "half", "balanced", "given"}',
            "Initial weights of the labels of a sample: all the same (3.11); half on the positive and half on "
            "the negative ones (3.12); for every label as much weight on its positive as on its negative "
            'samples; or ``label_weight`` as it is.  "auto" is "uniform" for multi-label targets and "half" for '
            "all others.",
            str, choices=("auto", "uniform", "half", "balanced", "given"), option="weighting",
            short="auto, uniform, half, balanced or given.",
        ),
        Parameter(
            "class_weight", 'dict, list of dict, "balanced" or None',
            "Multiplies the weights of samples, or the rewards of `MDDAGClassifier`, by their class.  "
            '"balanced" gives all classes the same weight.  A list has an entry for each column of y.',
            is_open=True, option="class_weight", by_name=True,
            short="balanced, or CLASS=NUMBER; repeat it for other classes.",
        ),
        Parameter(
            "negative_weights", '{"error", "ignore", "annihilate", "keep"}',
            "What becomes of samples with a negative weight, as generators of events make them.  They are refused; or "
            "left out; or cancel with samples of their class in the same leaf of a tree, before training; or are kept: "
            "their loss is subtracted.  See docs/physics.md.",
            str, choices=("error", "ignore", "annihilate", "keep"), option="negative_weights",
            short="error, ignore, annihilate or keep.",
        ),
        Parameter(
            "max_bins", "int",
            "Columns with at most so many distinct values are used exactly, others in so many bins; 2 to 65535.",
            int, 2, 65535, option="max_bins", short="Bins of numeric columns.",
        ),
        Parameter(
            "nominal_features", "list of str, list of int or mask",
            "Columns that are nominal, by name, position or a boolean for every column; besides the columns of "
            "data frames whose type says so: text, categories, enumerations.",
            is_open=True,
        ),
        Parameter(
            "min_category_rows", "int",
            "Categories of fewer training rows are treated like missing values, and so is a category at "
            "prediction that was not seen in training.",
            int, 1, option="min_category_rows", short="Rarer categories count as missing.",
        ),
        Parameter(
            "ridge", "float", "Of Newton's steps, in units of the mean weight of a pair.",
            float, 0, above=True, option="ridge", short="Of Newton's steps.",
        ),
        Parameter(
            "calibration", "str, Calibrator or None",
            'From scores to probabilities: "matrix", "diagonal", "quadratic" (two classes, labels), "temperature", '
            '"sigmoid", "platt", "isotonic", which learn from rows that were not trained on; "margin", "shift", '
            '"theory", which do not; the name of a registered calibration, or a Calibrator.  "auto" is what '
            "measurements found best.  None is the slope of theory.",
            is_open=True, option="calibration",
            short="auto, matrix, diagonal, quadratic, temperature, sigmoid, platt, isotonic, margin, shift or theory.",
        ),
        Parameter(
            "calibration_cv", 'int, "validation" or None',
            "The rows that a calibration learns from: None are those that were held out where settings were compared, "
            "by runs of 50 rounds; a number is that of folds, each held out of a run as long as the model's own; "
            '"validation" is the validation set of ``fit``.',
            is_open=True,
        ),
        Parameter(
            "n_jobs", "int or None",
            "Threads.  None means the processors that this process may use, and one inside a worker of joblib.  "
            "The model does not depend on it, bit for bit.",
            is_open=True, option="jobs", short="Threads; all processors unless given.",
        ),
        Parameter(
            "random_state", "int, RandomState or None",
            "Seed of the samples of the rounds, the random starts of indicators and the classifiers of "
            "`FromClassifier`.  None is a fixed seed too: the same table gives the same model.",
            is_open=True, option="seed", short="Of whatever is random.",
        ),
        Parameter(
            "verbose", "int", "1 prints a line for every tenth of the rounds, 2 for every round.", int, 0,
        ),
        Parameter(
            "estimator", "classifier or None",
            "Whose base classifiers are used.  A fitted one is used as it is, another one is fitted first.  None is "
            '`AdaBoostMHClassifier` with 1000 stumps; of `ViolaJonesClassifier` it is what each stage is a copy of.',
            is_open=True,
        ),
        Parameter(
            "beta", "float", "What a base classifier costs that is evaluated, in units of the reward, (3.62).",
            float, 0, option="beta", short="What a base classifier costs, in units of the reward.",
        ),
        Parameter(
            "reward", "str or callable",
            'What a row earns: "indicator" (3.60), "exponential" (3.61), "logistic", "hinge", or a function of the '
            "margin that numba can compile.",
            is_open=True, option="reward", short="indicator, exponential, logistic or hinge.",
        ),
        Parameter(
            "costs", "array, dict or None",
            "Of base classifiers, in units of beta: a number for each.  A dict is costs of columns, by name or "
            "position, which are paid once a row, when first needed; others cost nothing.  None: each base classifier "
            "costs 1.",
            is_open=True, option="costs", by_name=True,
            short="COLUMN=NUMBER, repeat it; or a file with a line for each base classifier.",
        ),
        Parameter(
            "actions", "tuple of str",
            'Which of "EVAL", "SKIP" and "QUIT" there are.  Without SKIP it is a cascade.',
        ),
        Parameter(
            "learner", '{"sarsa", "q-learning", "policy-iteration"}',
            "How the policy is learned: SARSA(lambda), Watkins' Q(lambda), or policy iteration, whose policies are "
            "classifiers of states; an iteration has ``block`` roll-outs, and there are ``n_episodes / block`` of "
            "them.",
            str, choices=("sarsa", "q-learning", "policy-iteration"), option="learner",
            short="sarsa, q-learning or policy-iteration.",
        ),
        Parameter(
            "n_episodes", "int", "Episodes; in each a random row is taken through the base classifiers.",
            int, 1, option="episodes", short="Episodes of learning.",
        ),
        Parameter("block", "int", "Episodes after which the policy is judged on the training set.", int, 1),
        Parameter("trace", "float", "lambda of SARSA(lambda).", float, 0, 1),
        Parameter("rate", "float", "The learning rate of episodes.", float, 0, 1, above=True),
        Parameter(
            "epsilon", "float",
            "Share of random actions in the first block of episodes; in block b it is divided by b.", float, 0, 1,
        ),
        Parameter("n_cells", "int", "Cells into which each number of a state is divided, finer around 0.", int, 2),
        Parameter("n_rounds", "int or None", "Base classifiers of the cascade; None: all.", int, 1, is_open=True),
        Parameter(
            "alpha", "float",
            "When the budget of lost positives is spent: early below 0, late above 0.  The larger, the more base "
            "classifiers a row sees.",
            float, option="alpha", short="When positives may be lost: early below 0, late above.",
        ),
        Parameter(
            "target_tpr", "float", "Share of the positives that must pass all thresholds, on the training set.",
            float, 0, 1, above=True, option="target_tpr", short="Share of the positives that must pass.",
        ),
        Parameter("reorder", "bool", "Whether the base classifier with the largest balanced edge comes next."),
        Parameter(
            "false_negative", "float", "Share of the positives that may be rejected.",
            float, 0, 1, option="false_negative", short="Share of the positives that may be rejected.",
        ),
        Parameter(
            "false_positive", "float", "Share of the negatives that may be accepted early; 0: none.",
            float, 0, 1, option="false_positive", short="Share of the negatives that may be accepted early.",
        ),
        Parameter("n_stages", "int", "Stages, at most.", int, 1, option="stages", short="Stages, at most."),
        Parameter(
            "stage_tpr", "float", "Share of the positives that pass a stage; of m stages its m-th power.",
            float, 0, 1, above=True, option="stage_tpr", short="Share of the positives that pass a stage.",
        ),
        Parameter(
            "stage_fpr", "float", "Share of the negatives that may pass a stage; of m stages its m-th power.",
            float, 0, 1, above=True, option="stage_fpr", short="Share of the negatives that may pass a stage.",
        ),
        Parameter(
            "min_rounds", "int", "Base classifiers of a stage, at least.", int, 1, option="min_rounds",
            short="Base classifiers of a stage, at least.",
        ),
        Parameter(
            "max_rounds", "int", "Base classifiers of a stage, at most.", int, 1, option="max_rounds",
            short="Base classifiers of a stage, at most.",
        ),
        Parameter("initial_value", "float", "Of all state-action pairs; a large one makes the learner curious.", float),
        Parameter(
            "oracle", "iterator or callable",
            "What delivers examples: an iterator of batches (X, y), or a function that returns the next one.  It may "
            "be endless.  A model file does not hold it.",
        ),
        Parameter(
            "delta", "float", "How likely it may be that what FilterBoost promises is wrong.", float, 0, 1, above=True,
        ),
        Parameter(
            "tau", "float",
            "How well edges have to be known: of a base classifier's edge at least a part of 1 / (1 + 2 tau) is used.",
            float, 0, 1, above=True,
        ),
        Parameter(
            "sample", "int", "Round t is learned on so many accepted examples times ln(t + 1).", int, 1,
        ),
        Parameter(
            "max_accepted", "int",
            "Accepted examples on which one edge is measured, at most: a smaller edge is taken for none.", int, 1,
        ),
        Parameter(
            "warm_start", "bool", "Whether ``fit`` goes on from the rounds it has, up to ``n_estimators``.",
        ),
    )
}  # fmt: skip


OPTIONS: dict[str, Parameter] = {parameter.option: parameter for parameter in PARAMETERS.values() if parameter.option}


def defaults_of(estimator: type) -> dict[str, Any]:
    """The parameters of an estimator and their defaults, in order."""
    given = inspect.signature(estimator.__init__).parameters  # type: ignore[misc]
    return {name: p.default for name, p in given.items() if name != "self"}


def documented(estimator: type) -> type:
    """Write the parameters into a class's docstring, in place of ``{parameters}``; a decorator."""
    if estimator.__doc__ is not None:  # it is where Python leaves docstrings out
        lines = []
        for name, default in defaults_of(estimator).items():
            parameter = PARAMETERS[name]
            lines.append(f"    {name} : {parameter.says}, default={default!r}".replace("'", '"'))
            lines.append(textwrap.fill(parameter.help, 100, initial_indent=8 * " ", subsequent_indent=8 * " "))
        estimator.__doc__ = estimator.__doc__.replace("    {parameters}", "\n".join(lines))
    return estimator


def table(*estimators: type) -> str:
    """All parameters of some estimators as a table in Markdown: that of ``docs/parameters.md``."""
    defaults = [defaults_of(estimator) for estimator in estimators]
    rows = [["parameter", "type", *(f"`{e.__name__}`" for e in estimators), "what it means", "option"]]
    rows.append(["---"] * len(rows[0]))
    for name in dict.fromkeys(name for one in defaults for name in one):
        parameter = PARAMETERS[name]
        values = [f"`{one[name]!r}`".replace("'", '"') if name in one else "" for one in defaults]
        option = f"`--{parameter.option.replace('_', '-')}`" if parameter.option else ""
        meaning = parameter.help.replace("``", "`").replace("  ", " ")
        rows.append([f"`{name}`", parameter.says, *values, meaning, option])
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)
