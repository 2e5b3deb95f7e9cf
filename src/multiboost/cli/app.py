"""Commands and their options; what they do is in the modules of the same names.

Nothing heavy is imported here: ``multiboost --help`` has to answer at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from .. import __version__
from ..estimators.parameters import OPTIONS
from ..extras import need
from .failure import failures

typer = need("typer", "cli")
_core = need("typer.core", "cli")


class Command(_core.TyperCommand):  # type: ignore[name-defined]
    """A command whose help says of a flag that it is there, not that it takes a <bool>."""

    def get_params(self, ctx):
        """As of the parser."""
        return _plain(super().get_params(ctx))


class _Group(_core.TyperGroup):  # type: ignore[name-defined]
    def get_params(self, ctx):
        return _plain(super().get_params(ctx))


def _plain(params: list) -> list:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


app = typer.Typer(
    cls=_Group,
    name="multiboost",
    help="Boosting in the AdaBoost.MH family: train, predict, evaluate and look into models from files.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_READ, _MODEL, _RUN, _OUT = "Reading", "Model", "The run", "Output"


def _option(*names: str, help: str, panel: str, **more: Any):
    # A bracket is markup in a help text unless it is escaped: [tree] would not be shown.
    return typer.Option(*names, help=help.replace("[", "\\["), rich_help_panel=panel, show_default=False, **more)


def _parameter(option: str, default: str = "", *more: str) -> Any:
    """The type of an option that sets a parameter of the estimator, as it is declared there."""
    parameter = OPTIONS[option]
    lists = list[float] if parameter.several else list[str] if parameter.by_name else None
    kind: Any = int if option == "seed" else lists or parameter.kind or str
    names = (f"--{option.replace('_', '-')}", *more)
    return Annotated[
        kind | None,
        _option(*names, help=f"{parameter.short} {f'[{default}]' if default else ''}".strip(), panel=_MODEL),
    ]


_FILES = "csv, tsv, Parquet, Arrow, ARFF, svmlight, text, x.root:tree; or - for standard input."
Data = Annotated[str, typer.Argument(metavar="DATA", help=_FILES)]
TrainingData = Annotated[
    str, typer.Argument(metavar="DATA", help=f"{_FILES} Or a folder or pattern of Parquet, Arrow, csv or tsv files.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
Target = Annotated[
    list[str] | None,
    _option(
        "--target",
        "-t",
        help="Column of the class or number; repeat it for several labels, tasks or numbers.",
        panel=_READ,
    ),
]
Task = Annotated[
    str | None, _option("--task", help="classification, regression or ranking. [classification]", panel=_MODEL)
]
Query = Annotated[
    str | None, _option("--query", help="Column of the query, for --task ranking; svmlight has qid.", panel=_READ)
]
Format = Annotated[
    str | None,
    _option("--format", help="csv, tsv, parquet, arrow, arff, svmlight, simple or root; else by suffix.", panel=_READ),
]
Delimiter = Annotated[
    str | None,
    _option("--delimiter", help="Of csv files; else a comma, or a semicolon where the header has that.", panel=_READ),
]
LabelsFile = Annotated[
    Path | None, _option("--labels", help="The xml file that names the label attributes of a mulan ARFF.", panel=_READ)
]
Ignore = Annotated[list[str] | None, _option("--ignore", help="Column to leave out; repeat as needed.", panel=_READ)]
Weight = Annotated[str | None, _option("--weight", help="Column of sample weights.", panel=_READ)]
Nominal = Annotated[
    list[str] | None,
    _option("--nominal", help="Column of numbers that are names; text is nominal anyway.", panel=_READ),
]
Json = Annotated[bool, _option("--json", help="JSON on standard output, nothing else.", panel=_OUT)]
Quiet = Annotated[bool, _option("--quiet", "-q", help="No progress and no tables.", panel=_OUT)]
Jobs = Annotated[int | None, _option("--jobs", "-j", help="Threads; all processors unless given.", panel=_RUN)]


def _call(command: str, **arguments: Any) -> None:
    """Run a command's module with what was given."""
    # Here and not only in main: the parser has its own ideas of interruptions and closed pipes.
    with failures():
        import_module(f".{command}", __package__).run(**arguments)


def _say_version(asked: bool) -> None:
    if asked:
        print(f"multiboost {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Options of no command."""


@app.command(cls=Command)
def train(
    data: TrainingData,
    target: Target = None,
    out: Annotated[Path | None, _option("--out", "-o", help="Model file to write.", panel=_OUT)] = None,
    valid: Annotated[str | None, _option("--valid", help="Validation file.", panel=_READ)] = None,
    valid_fraction: Annotated[
        float | None, _option("--valid-fraction", help="Share of DATA that is set apart for validation.", panel=_READ)
    ] = None,
    test: Annotated[str | None, _option("--test", help="Test file, evaluated at the end.", panel=_READ)] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    weight: Weight = None,
    query: Query = None,
    nominal: Nominal = None,
    memory: Annotated[
        str | None,
        _option("--memory", help="What the run may take, such as 2GB; more is on the disk.", panel=_RUN),
    ] = None,
    workspace: Annotated[
        Path | None, _option("--workspace", help="Folder for arrays of data larger than memory.", panel=_RUN)
    ] = None,
    config: Annotated[
        Path | None, _option("--config", help="TOML file of these options; what is given here wins.", panel=_MODEL)
    ] = None,
    task: Task = None,
    base: _parameter("base", "tree") = None,
    rounds: _parameter("rounds", "chosen", "-n") = None,
    votes: _parameter("votes", "real") = None,
    loss: _parameter("loss", "auto; squared; exponential") = None,
    quantile: _parameter("quantile") = None,
    gain: _parameter("gain", "exponential") = None,
    criterion: _parameter("criterion") = None,
    step: _parameter("step") = None,
    learning_rate: _parameter("learning_rate") = None,
    init: _parameter("init") = None,
    subsample: _parameter("subsample") = None,
    row_sampler: _parameter("row_sampler") = None,
    column_sampler: _parameter("column_sampler", "all") = None,
    label_sampler: _parameter("label_sampler", "all") = None,
    weighting: _parameter("weighting", "auto") = None,
    class_weight: _parameter("class_weight") = None,
    negative_weights: _parameter("negative_weights", "error") = None,
    max_bins: _parameter("max_bins", "256") = None,
    min_category_rows: _parameter("min_category_rows", "2") = None,
    ridge: _parameter("ridge", "1") = None,
    seed: _parameter("seed") = None,
    patience: Annotated[
        int | None, _option("--patience", help="Stop after so many rounds without improvement.", panel=_RUN)
    ] = None,
    metric: Annotated[
        str | None, _option("--metric", help="What has to improve. [validation_error]", panel=_RUN)
    ] = None,
    time_limit: Annotated[str | None, _option("--time-limit", help="For example 90s, 20m or 3h.", panel=_RUN)] = None,
    checkpoint: Annotated[
        Path | None, _option("--checkpoint", help="Checkpoint file, written again and again.", panel=_RUN)
    ] = None,
    every: Annotated[str | None, _option("--every", help="Time between checkpoints. [60s]", panel=_RUN)] = None,
    resume: Annotated[Path | None, _option("--resume", help="Go on from this checkpoint.", panel=_RUN)] = None,
    jobs: Jobs = None,
    log: Annotated[
        Path | None, _option("--log", help="One row per round: .csv, .jsonl or .parquet.", panel=_OUT)
    ] = None,
    report: Annotated[Path | None, _option("--report", help="HTML report to write.", panel=_OUT)] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model.

    Ctrl-C ends the run after the current round; the model so far is written.
    """
    _call("train", **locals())


@app.command(cls=Command)
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, _option("--out", "-o", help="csv, tsv, Parquet or Arrow file; else standard output.", panel=_OUT)
    ] = None,
    scores: Annotated[bool, _option("--scores", help="Scores F instead of answers.", panel=_OUT)] = False,
    proba: Annotated[bool, _option("--proba", help="Probabilities instead of classes.", panel=_OUT)] = False,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    jobs: Jobs = None,
) -> None:
    """Predict, batch by batch: the file may be larger than memory."""
    _call("predict", **locals())


@app.command(cls=Command)
def evaluate(
    model: Model,
    data: Data,
    staged: Annotated[bool, _option("--staged", help="After every round.", panel=_OUT)] = False,
    target: Target = None,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    weight: Weight = None,
    query: Query = None,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Error, Hamming loss, balanced error, log-loss, AUC, confusion matrix and margins.

    Of numbers RMSE, MAE, R2, relative error, and how many rows quantiles cover.  Of rankings NDCG, MAP, precision, NDCG
    at every position and the worst queries.
    """
    _call("evaluate", **locals())


@app.command(cls=Command)
def lean(
    model: Model,
    data: Data,
    out: Annotated[Path, _option("--out", "-o", help="Model file to write.", panel=_OUT)],
    method: Annotated[
        str, _option("--method", help="exit, mddag, soft-cascade, wald or viola-jones. [exit]", panel=_MODEL)
    ] = "exit",
    max_disagreement: Annotated[
        float | None,
        _option("--max-disagreement", help="exit: share of answers that may differ. [0.001]", panel=_MODEL),
    ] = None,
    confidence: Annotated[
        float | None, _option("--confidence", help="exit: with which this is promised. [0.95]", panel=_MODEL)
    ] = None,
    beta: _parameter("beta", "0.01") = None,
    reward: _parameter("reward", "indicator") = None,
    learner: _parameter("learner", "sarsa") = None,
    episodes: _parameter("episodes", "1000000") = None,
    costs: _parameter("costs") = None,
    class_weight: _parameter("class_weight") = None,
    alpha: _parameter("alpha", "0") = None,
    target_tpr: _parameter("target_tpr", "0.98") = None,
    false_negative: _parameter("false_negative", "0.02") = None,
    false_positive: _parameter("false_positive", "0") = None,
    stages: _parameter("stages", "10") = None,
    stage_tpr: _parameter("stage_tpr", "0.99") = None,
    stage_fpr: _parameter("stage_fpr", "0.6") = None,
    min_rounds: _parameter("min_rounds", "2") = None,
    max_rounds: _parameter("max_rounds", "200") = None,
    seed: _parameter("seed") = None,
    time_limit: Annotated[str | None, _option("--time-limit", help="mddag: for example 90s.", panel=_RUN)] = None,
    target: Target = None,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Make a model that uses only as many of its base classifiers as a row needs.

    exit wants rows that the model was not trained on; the others the rows that it was trained on.  viola-jones trains
    stages with the settings of the model.
    """
    _call("lean", **locals())


@app.command(cls=Command)
def inspect(
    model: Model,
    round: Annotated[int | None, _option("--round", help="The rules of this round, in words.", panel=_OUT)] = None,
    json: Json = False,
) -> None:
    """What a model is, from what data and settings, its rules and importances."""
    _call("inspect", **locals())


@app.command(cls=Command)
def compare(
    data: Data,
    target: Target = None,
    task: Task = None,
    folds: Annotated[int, typer.Option("--folds", help="Of the cross-validation.")] = 5,
    rounds: Annotated[
        int | None, typer.Option("--rounds", "-n", help="Rounds of each model.", show_default="chosen")
    ] = None,
    bases: Annotated[
        list[str] | None,
        _option("--base", help="A base learner to compare; repeat it. Else a few of each kind.", panel=_MODEL),
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    weight: Weight = None,
    query: Query = None,
    nominal: Nominal = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the folds.")] = 0,
    jobs: Jobs = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Cross-validate a few base learners and settings, so that you can choose."""
    _call("compare", **locals())


@app.command(cls=Command)
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    title: Annotated[str | None, typer.Option("--title", help="Of the page.")] = None,
    target: Target = None,
    format: Format = None,
    delimiter: Delimiter = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    weight: Weight = None,
    query: Query = None,
    jobs: Jobs = None,
) -> None:
    """Write one HTML page about a model and how it does on DATA."""
    _call("report", **locals())


@app.command(cls=Command)
def export(
    model: Model,
    to: Annotated[str, typer.Option("--to", help="c, onnx, conifer or python.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; of C the header is beside it.")],
    name: Annotated[
        str | None, _option("--name", help="What C identifiers begin with. [the name of the file]", panel=_OUT)
    ] = None,
    precision: Annotated[
        str | None, _option("--precision", help="C, ONNX: double or float. [double]", panel=_OUT)
    ] = None,
    proba: Annotated[bool, _option("--proba", help="C: probabilities too; they need math.h.", panel=_OUT)] = False,
    fixed: Annotated[
        list[str] | None,
        _option("--fixed", help="C: integers, such as q8.8; or COLUMN=q8.8, for every column.", panel=_OUT),
    ] = None,
    categories: Annotated[
        str | None, _option("--categories", help="ONNX: codes or names of nominal columns. [codes]", panel=_OUT)
    ] = None,
) -> None:
    """Write a model as C99, ONNX, conifer's dictionary or one Python file."""
    _call("export", **locals())


@app.command("import", cls=Command)
def import_(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A model of the C++ program, *.shyp.xml, also with gzip.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    columns: Annotated[
        str | None,
        _option("--columns", help="Data file with the model's columns; else those it tests.", panel=_READ),
    ] = None,
    target: Target = None,
    format: Format = None,
    delimiter: Delimiter = None,
    ignore: Ignore = None,
    multilabel: Annotated[bool, _option("--multilabel", help="Its classes are labels.", panel=_MODEL)] = False,
) -> None:
    """Make a model file of a model of the C++ program MultiBoost."""
    _call("importing", **locals())


@app.command(cls=Command)
def warmup(quiet: Quiet = False) -> None:
    """Compile the kernels now, so that the first training does not wait for it."""
    _call("warmup", **locals())


@app.command(cls=Command)
def demo() -> None:
    """Train, evaluate and look at a model on data that come with scikit-learn."""
    _call("demo")


@app.command(cls=Command)
def version() -> None:
    """Versions of multiboost and of what it stands on."""
    _call("version")


def main() -> None:
    """The command: exit code 2 for bad input, 130 for an interruption, 1 for our own mistakes."""
    with failures():
        app(prog_name="multiboost", standalone_mode=False)
    sys.exit(0)
