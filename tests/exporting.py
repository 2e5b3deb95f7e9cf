"""What the tests of exports share: tables, rows that nobody expects, compilers."""

import importlib
import os
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from multiboost import MultiBoostClassifier, MultiBoostRegressor
from multiboost.kernels.team import Team

# Products of trees, trees of products, and every learner of the house by itself.
SPECS = ["stump", "tree:6", "product:3", "tree:4/product:2", "product:2/tree:3", "selector", "indicator",
         "product:2/selector", "bins:8"]  # fmt: skip
CURVED = ["column", "column:spline"]  # lines and splines: in double precision only
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SANITIZERS = ["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
STRANGE = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.7976931348623157e308, -1e300, 1e10]


def _absent(what: str) -> None:
    told = f"no {what} here; with MULTIBOOST_EXPORT=required this fails"
    pytest.fail(told) if os.environ.get("MULTIBOOST_EXPORT") == "required" else pytest.skip(told)


def compiler(name: str) -> str:
    """The path of a compiler."""
    if shutil.which(name) is None:
        _absent(name)
    return name


def package(name: str):
    """An optional package."""
    if importlib.util.find_spec(name) is None:
        _absent(name)
    return importlib.import_module(name)


def mixed_table(n: int = 400, seed: int = 0):
    """Numbers and categories, with missing values, and a class number that depends on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n) for name in ("a", "b", "c")})
    frame["colour"] = rng.choice(["red", "green", "blue", "grey", "teal"], n)
    frame["city"] = rng.choice([f"city {k}" for k in range(30)], n)
    signal = frame["a"] + 1.5 * frame["colour"].isin(["red", "teal"]) - frame["b"] * (frame["city"] > "city 2")
    y = np.digitize(signal + 0.3 * rng.normal(size=n), [-0.5, 0.8])
    for name in frame.columns:
        frame.loc[rng.random(n) < 0.08, name] = None
    return frame, y


def nominal_only(frame):
    return frame[["colour", "city"]]


def fitted(spec: str, n_rounds: int = 12, seed: int = 0, labels: int = 3):
    """A classifier of a mixed table; of learners of nominal columns, of those columns."""
    frame, y = mixed_table(seed=seed)
    if "selector" in spec or "indicator" in spec:
        frame = nominal_only(frame)
    if spec.startswith(("bins", "column")):  # they order categories, which is refused
        frame = frame[["a", "b", "c"]]
    y = np.minimum(y, labels - 1)
    return MultiBoostClassifier(spec, n_rounds, loss="exponential", random_state=0).fit(frame, y)


def fitted_regressor(seed: int = 0, **parameters):
    frame, y = mixed_table(seed=seed)
    target = y + frame["a"].fillna(0) ** 2
    return MultiBoostRegressor("tree:5", 12, **parameters).fit(frame, target)


def strange_rows(model, n: int, seed: int = 0) -> np.ndarray:
    """Rows with numbers of categories: values at and beside thresholds, infinities, denormals, unseen categories."""
    rng = np.random.default_rng(seed)
    ensemble = model.ensemble
    X = rng.normal(size=(n, model.columns.n))
    for j in range(model.columns.n):
        names = model.columns.category_names(j)
        if names is not None:
            count = len(names)
            X[:, j] = rng.integers(-2, count + 3, n)
            odd = rng.random(n) < 0.05
            X[odd, j] = rng.choice([*STRANGE, 0.5, count - 0.5, -0.5], odd.sum())
            continue
        cuts = ensemble.threshold[ensemble.feature == j]
        if cuts.size:
            near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])
            at = rng.random(n) < 0.5
            X[at, j] = rng.choice(near, at.sum())
        odd = rng.random(n) < 0.2
        X[odd, j] = rng.choice(STRANGE, odd.sum())
    return X


def known_codes(model, X: np.ndarray) -> np.ndarray:
    """The same rows with NaN for whatever is no category."""
    X = X.copy()
    for j in range(model.columns.n):
        names = model.columns.category_names(j)
        if names is not None:
            X[~((X[:, j] >= 0) & (X[:, j] < len(names))), j] = np.nan
    return X


def kernel_scores(model, X: np.ndarray) -> np.ndarray:
    """F as ``decision_function`` computes it; which would refuse infinities before."""
    scores = np.tile(model.ensemble.initial, (len(X), 1))
    with Team(2) as team:
        model.ensemble.add_scores(known_codes(model, X), scores, 0, model.n_rounds, team)
    return scores


def as_names(model, X: np.ndarray) -> pd.DataFrame:
    """Rows of numbers of categories as a user has them: names, None for missing, an unseen name for what is none."""
    columns = {}
    for j, name in enumerate(model.columns.names):
        names = model.columns.category_names(j)
        if names is None:
            columns[name] = X[:, j]
        else:
            named = [names[int(v)] if 0 <= v < len(names) else "unseen" for v in X[:, j]]
            columns[name] = [None if np.isnan(v) else text for v, text in zip(X[:, j], named, strict=True)]
    return pd.DataFrame(columns)


def counts(source) -> bool:
    """Whether the code follows a policy and returns how many base classifiers it has evaluated."""
    return f"int32_t {source.name}_scores(const double" in source.header


def build(folder, sources: list, cc: str, flags: list[str]):
    """A program that reads rows for one of the models and writes codes (of fixed point), scores and answers."""
    parts = ["#include <stdio.h>", "#include <stdlib.h>"]
    cases = []
    for k, source in enumerate(sources):
        source.write(folder / f"{source.name}.c")
        name, upper = source.name, source.name.upper()
        fixed = source.fixed is not None
        row = "float" if "const float *x, float *scores" in source.header else "double"
        score = "int32_t" if fixed else row
        parts.append(f'#include "{name}.h"')
        parts.append(f"static void run{k}(void)\n{{\n    {row} x[{upper}_COLUMNS];")
        parts.append(f"    {score} scores[{upper}_LABELS];")
        parts.append(f"    {name}_code codes[{upper}_COLUMNS];" if fixed else "")
        parts.append("    while (fread(x, sizeof x, 1, stdin) == 1) {")
        if fixed:
            parts.append(f"        {name}_quantise(x, codes);\n        fwrite(codes, sizeof codes, 1, stdout);")
            parts.append(f"        {name}_scores(codes, scores);")
        elif counts(source):
            parts.append(f"        int32_t evaluated = {name}_scores(x, scores);")
            parts.append("        fwrite(&evaluated, sizeof evaluated, 1, stdout);")
        else:
            parts.append(f"        {name}_scores(x, scores);")
        parts.append("        fwrite(scores, sizeof scores, 1, stdout);\n    }\n}\n")
        cases.append(f"    case {k}: run{k}(); return 0;")
    parts += ["int main(int n, char **given)\n{\n    switch (n > 1 ? atoi(given[1]) : -1) {", *cases,
              "    }\n    return 1;\n}"]  # fmt: skip
    (folder / "main.c").write_text("\n".join(parts) + "\n")
    program = folder / f"program-{cc}"
    files = [str(folder / f"{source.name}.c") for source in sources]
    made = subprocess.run([compiler(cc), *flags, "-o", str(program), str(folder / "main.c"), *files, "-lm"],
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stderr[:4000]
    return program


def run_program(program, number: int, rows: np.ndarray, source) -> tuple[np.ndarray | None, np.ndarray]:
    """Codes (of fixed point), numbers of evaluations (of policies) or None, and scores of rows."""
    done = subprocess.run([str(program), str(number)], input=np.ascontiguousarray(rows).tobytes(), capture_output=True)
    assert done.returncode == 0, done.stderr[:4000]
    n_columns = rows.shape[1]
    if counts(source):
        n_labels = (len(done.stdout) // len(rows) - 4) // 8
        found = np.frombuffer(done.stdout, np.dtype([("evaluated", "i4"), ("scores", "f8", (n_labels,))]))
        return found["evaluated"], found["scores"]
    if source.fixed is None:
        return None, np.frombuffer(done.stdout, rows.dtype).reshape(len(rows), -1)
    code = np.dtype(f"i{source.fixed.bits // 8}")
    n_labels = (len(done.stdout) // len(rows) - n_columns * code.itemsize) // 4
    # Labels are at least one: the two arrays follow each other without a gap.
    kind = np.dtype([("codes", code, (n_columns,)), ("scores", "i4", (n_labels,))])
    found = np.frombuffer(done.stdout, kind)
    return found["codes"], found["scores"]
