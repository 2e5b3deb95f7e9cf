"""``multiboost inspect``."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import named_importances, round_rules
from .display import console, measured, table_of
from .examples import told_by
from .failure import BadInput
from .models import one_model

_MOST = 15  # importances and rounds in a terminal
_SOME = ("votes", "weighting", "quantile")


def run(model: Path, round: int | None, json: bool) -> None:
    """Look into a model; the options are those of `app.inspect`."""
    classifier = one_model(model, "inspect")
    n = classifier.n_estimators_
    if round is not None and not 1 <= round <= n:
        raise BadInput(f"--round {round}: the model has rounds 1 to {n}")
    facts = _facts(classifier)
    importances = [(i.name, i.share) for i in named_importances(classifier)]
    if json:
        found = {**facts, "importances": dict(importances), "rounds": _rounds(classifier)}
        if round is not None:
            found["rules"] = [str(r) for r in round_rules(classifier, [round])]
        print(jsonlib.dumps(found))
        return
    out = console(stderr=False)
    if round is not None:
        for rules in round_rules(classifier, [round]):
            print(rules)
        return
    if "training_error" in facts:
        facts["training_error"] = measured("error", facts["training_error"])
    out.print(table_of([(name.replace("_", " "), value) for name, value in facts.items()]))
    out.print()
    shown = [(name, f"{100 * share:.1f} %") for name, share in importances[:_MOST]]
    out.print(table_of(shown, [f"importance ({len(importances)} columns)", "share of the gain"]))
    out.print()
    rows = [[f"{v:.4f}" if isinstance(v, float) else v for v in r.values()] for r in _rounds(classifier)[:_MOST]]
    out.print(table_of(rows, ["round", "edge", "alpha"]))
    for rules in round_rules(classifier, [1]):
        print()
        print(rules)
    if n > 1:
        out.print(f"\n--round 2 to --round {n} show the other rules", style="dim", highlight=False)


def _facts(classifier) -> dict[str, Any]:
    kind, plan = classifier.model_.kind, classifier.plan_
    data = told_by(classifier.model_)
    is_told = {"file", "rows"} <= set(data)
    nominal = sum(c is not None for c in classifier.categories_)
    is_single_number = kind.name == "regression" and kind.is_single
    classes = data.get("target", []) if is_single_number else [str(c) for part in kind.classes for c in part]
    return {
        "target": kind.name,
        "targets" if kind.name == "regression" else "classes": ", ".join(classes[:20])
        + (f" and {len(classes) - 20} more" if len(classes) > 20 else ""),
        "columns": f"{classifier.n_features_in_}, {nominal} of them nominal",
        "trained_on": f"{data['file']}, {data['rows']} rows" if is_told else "unknown (trained from Python)",
        "rounds": int(classifier.n_estimators_),
        "estimator": type(classifier).__name__,
        "base_learner": plan.learner_name,
        "loss": plan.loss.name,
        "criterion": plan.criterion,
        "learning_rate": plan.learning_rate,
        "subsample": plan.subsample,
        "max_bins": plan.max_bins,
        "min_category_rows": plan.min_category_rows,
        # What only some estimators have.
        **{name: _plain(getattr(classifier, name)) for name in _SOME if hasattr(classifier, name)},
        "seed": getattr(classifier, "random_state", None),
        # Not known of a model of the C++ program, or of a cascade of several runs.
        **{name: float(v[-1]) for name, v in classifier.history_.items() if name == "training_error"},
        **({} if classifier.model_.policy is None else {"policy": classifier.model_.policy.about}),
        "digest": classifier.model_.digest(),
    }


def _plain(value: Any) -> Any:
    """Lists and numbers, as JSON can hold them."""
    return np.asarray(value).tolist() if isinstance(value, (tuple, list, np.ndarray)) else value


def _rounds(classifier) -> list[dict[str, Any]]:
    edge, alpha = (classifier.history_.get(name, np.zeros(0)) for name in ("edge", "alpha"))
    return [{"round": t + 1, "edge": float(edge[t]), "alpha": float(alpha[t])} for t in range(np.size(edge))]
