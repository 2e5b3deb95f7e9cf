"""One self-contained page about a fitted estimator: no other file, no network, no libraries."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..disk import whole_file
from ..evaluation import Evaluation, RankingEvaluation, RegressionEvaluation
from . import classes, ranking, regression
from .findings import Findings, find
from .markup import Html, join, json_block, tag

# Which sections a page has, and what its first sentence says.
_PAGES = {
    Evaluation: (classes.SECTIONS, classes.sentence),
    RegressionEvaluation: (regression.SECTIONS, regression.sentence),
    RankingEvaluation: (ranking.SECTIONS, ranking.sentence),
}


def write_report(
    clf,
    X,
    y,
    path,
    *,
    sample_weight=None,
    qid=None,
    title=None,
    X_train=None,
    y_train=None,
    qid_train=None,
    data_file=None,
    model_file=None,
    date=None,
) -> Path:
    """Write a report about a fitted classifier, regressor or ranker as one HTML page.

    The page says first whether the model is better than a constant answer, and what looks odd.  It has settings,
    metrics with intervals, learning curves, margins, confusion, precision and recall, ROC and reliability of every
    label, importances by gain and by permutation, the shape of every column of stump models and the partial dependence
    of others, the rules of the first rounds and the largest mistakes; of a lean classifier how many base classifiers
    rows need; of a regressor predicted against true numbers, residuals and the coverage of quantiles instead of what
    only classes have; of a ranker NDCG by position and the worst queries.  It opens offline, on a phone, prints on A4,
    and holds the numbers behind its pictures as JSON, in the element ``data``.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows on which to evaluate, best ones that training has not seen.
    y : labels, numbers or grades as in ``fit``
    path : str or path
        Written whole or not at all.
    sample_weight : array of shape (n_samples,), default=None
        None of them negative; `evaluate` knows negative ones.
    qid : array of shape (n_samples,), default=None
        Of a ranker: the query of every row.
    title : str, default=None
    X_train, y_train, qid_train : default=None
        The training rows.  Without them the training error is the one that ``fit`` kept, and
        there are no margins of the training rows.
    data_file, model_file : str or path, default=None
        Files that the page names as those of its rows and of the model.
    date : str or date, default=None
        Of the page; None means today.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> from multiboost import write_report
    >>> write_report(clf, X_test, y_test, "report.html")  # doctest: +SKIP
    """
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train go together; only one of them was passed")
    findings = find(
        clf, X, y, sample_weight, qid=qid, title=title, X_train=X_train, y_train=y_train, qid_train=qid_train,
        data_file=data_file, model_file=model_file, date=date,
    )  # fmt: skip
    with whole_file(path) as file:
        file.write(page(findings).encode())
    return Path(path)


def page(findings: Findings) -> str:
    """The whole page as text."""
    builders, sentence = _PAGES[type(findings.evaluation)]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    script = files(__package__).joinpath("page.js").read_text(encoding="utf-8")
    made = [(name, short_title, build(findings)) for name, short_title, build in builders]
    present = [(name, short_title, html) for name, short_title, html in made if html is not None]
    links = [tag("li", tag("a", short_title, href=f"#{name}")) for name, short_title, _ in present]
    # Only this script may run, whatever names of classes and columns say.
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"multiboost {__version__}"),
        tag("title", findings.title),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the summary", href="#summary", class_="skip"),
        tag("header", tag("h1", findings.title), tag("p", sentence(findings), class_="lead")),
        tag("nav", tag("ul", *links), aria_label="Sections"),
        tag("main", join([html for _, _, html in present], "\n")),
        tag("footer", tag("p", f"Made by multiboost {__version__}. The numbers behind the pictures are in this page, "
                               "as JSON in the element \u201cdata\u201d.")),
        json_block(findings.to_json(), "data"),
        tag("script", Html(script)),
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{tag('html', head, Html(chr(10)), body, lang='en')}\n"
