"""The sections of a report about rankings, beside those that all reports have."""

from __future__ import annotations

from .charts import figure
from .columns import columns, dependence, shapes
from .findings import Findings
from .markup import Html, number, short, tag
from .parts import between, cards, methods, numbers, section, table
from .sections import VALUES, learning, model_and_data, rules, verdict
from .svg import Axes

_CALLED = {
    "letor3": "LETOR 3.0",
    "letor4": "LETOR 4.0",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "sklearn": "scikit-learn",
    "trec": "trec_eval",
}


def sentence(f: Findings) -> str:
    """The page in one sentence."""
    s, e = dict(f.settings), f.evaluation
    rounds = f"{e.n_rounds} round{'' if e.n_rounds == 1 else 's'}"
    model = f"{rounds} of {s['base learner']} with {s['loss']} loss"
    return f"{model}. On {e.n_queries} given queries, {e.n_rows} documents, NDCG@10 is {number(e.ndcg, 4)}."


def summary(f: Findings) -> Html:
    """The numbers that matter most."""
    e = f.evaluation
    shown = [
        ("NDCG@10", number(e.ndcg, 4), True, between(e.intervals.get("ndcg"), lambda v: number(v, 3))),
        ("NDCG@10 of a random order", number(e.chance, 4), False, None),
        ("mean NDCG", number(e.mean_ndcg, 4), False, None),
        ("MAP", number(e.map, 4), False, None),
        ("precision@10", number(e.precision, 4), False, None),
        ("queries", number(e.n_queries), False, None),
    ]
    note = None
    if e.n_without:
        words = f"{e.n_without} of the queries have no relevant document: they count as 0, however they are ranked."
        note = tag("p", words, class_="quiet")
    return section("summary", "Summary", verdict(f), cards(shown), methods(e.intervals, {"ndcg": "NDCG@10"}), note)


def positions(f: Findings) -> Html:
    """NDCG@k, beside that of a random order, and as other programs count it."""
    e = f.evaluation
    at = list(range(1, len(e.ndcg_at) + 1))
    axes = Axes((1, max(2, at[-1])), (0.0, 1.0), width=420, height=320, left=60).frame("k", "NDCG@k")
    axes.line(at, e.ndcg_at, "s0", name="model")
    axes.line(at, e.random_at, "s7", name="random order")
    for k, value in zip(at, e.ndcg_at, strict=True):
        axes.dot(k, value, "f0", 3.0, f"NDCG@{k}: {number(value, 4)}")
    said = f"NDCG@k for k from 1 to {at[-1]}: model {number(e.ndcg_at[0])} to {number(e.ndcg_at[-1])}"
    picture = figure(
        axes.svg(said, "positions"),
        "NDCG of the first k positions, the mean over queries, and what documents in random order would have.",
        entries=[("s0", "model"), ("s7", "random order")],
    )
    rows = [[str(k), number(a, 4), number(b, 4)] for k, a, b in zip(at, e.ndcg_at, e.random_at, strict=True)]
    behind = numbers("Numbers", table("NDCG by position", ["k", "model", "random order"], rows, numeric=(1, 2)))
    beside = None
    if e.conventions:
        counted = [[_CALLED.get(name, name), number(value, 4)] for name, value in e.conventions.items()]
        beside = table("NDCG@10 of the same ranking, as other programs count it", ["program", "NDCG@10"], counted,
                       numeric=(1,))  # fmt: skip
    return section("positions", "NDCG by position", tag("div", picture, tag("div", beside, behind), class_="two"))


def queries(f: Findings) -> Html:
    """The queries that are ranked worst."""
    found = f.evaluation.mistakes
    if not found:
        return section("queries", "Worst queries", tag("p", "All queries are ranked as well as can be."))
    shown = list(found[0].values)[:VALUES]
    head = ["query", "documents", "relevant", "NDCG@10", "first grade", "best grade", "at position", "row",
            *map(short, shown)]  # fmt: skip
    rows = [
        [
            short(m.query),
            *(number(v) for v in (m.n_documents, m.n_relevant)),
            number(m.ndcg, 3),
            *(number(v) for v in (m.first_grade, m.grade, m.position)),
            str(m.row),
            *(short(v, 24) if isinstance(v, str) else number(v, 4) for v in (m.values.get(name) for name in shown)),
        ]
        for m in found
    ]
    words = {8 + k for k, name in enumerate(shown) if any(isinstance(m.values.get(name), str) for m in found)}
    intro = tag(
        "p",
        "Of the best documents of each query the one that is ranked lowest is shown: its grade, position and row, and "
        "what it holds where it matters. The first grade is that of the document which is ranked first.",
    )
    caption = "Queries with the lowest NDCG@10, of those with a relevant document"
    numeric = set(range(1, len(head))) - words
    return section("queries", "Worst queries", intro, table(caption, head, rows, numeric=numeric))


SECTIONS = (
    ("summary", "Summary", summary),
    ("model", "Model and data", model_and_data),
    ("learning", "Learning", learning),
    ("positions", "Positions", positions),
    ("columns", "Columns", columns),
    ("dependence", "Dependence", dependence),
    ("shapes", "Shapes", shapes),
    ("rules", "Rules", rules),
    ("queries", "Queries", queries),
)
