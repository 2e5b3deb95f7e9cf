"""Scores of one row in C99: static tables, and a loop that adds up votes in the order of the rounds.

The same additions in the same order as ``decision_function``: with doubles the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.model import Model
from .c_policy import policy_scores
from .c_text import braces, filled, index_type, number, table
from .exportable import is_stumps, n_categories, signs_of_terms, total_votes

ABREAST = 8  # trees that are walked together


@dataclass
class Piece:
    """A part of the two files.

    Attributes
    ----------
    header : str
        Declarations.
    source : str
        Definitions.
    needs_math : bool
        Whether it needs math.h.
    """

    header: str
    source: str
    needs_math: bool = False


def float_scores(model: Model, name: str, precision: str) -> Piece:
    """``NAME_scores(x, scores)`` with floating point numbers.

    Parameters
    ----------
    model : Model
    name : str
        That identifiers begin with.
    precision : {"double", "float"}
    """
    ensemble, n_labels = model.ensemble, model.ensemble.n_labels
    threshold = ensemble.threshold if precision == "double" else float_below(ensemble.threshold)

    def numbers(row: np.ndarray) -> str:
        return braces([number(v, precision) for v in row])

    nominal = bool((ensemble.set_start >= 0).any())
    parts = [table(f"static const {precision} initial[{n_labels}]", [number(v, precision) for v in ensemble.initial])]
    if nominal:
        parts += [
            table("static const int32_t n_categories[]", [str(max(n, 0)) for n in n_categories(model)]),
            table("static const uint8_t sets[]", [str(byte) for byte in ensemble.sets]),
        ]
    parts.append(_goes_right(ensemble, precision, nominal))
    parts += (_stumps if is_stumps(model) else _walks)(model, threshold, precision, nominal, numbers)
    upper = name.upper()
    words = {"LABELS": f"{upper}_LABELS", "REAL": precision, "ROUNDS": str(ensemble.n_rounds), "ABREAST": str(ABREAST)}
    returned, told = "void", ""
    if model.policy is not None:
        parts.append(policy_scores(model, name, filled(_one_round(model), **words)))
        returned, told = "int32_t", "  Returns how many base classifiers were evaluated."
    else:
        loop = LOOP if _is_abreast(model) else _one_round(model)
        step = f"t += {ABREAST}" if loop is LOOP else "t++"
        parts.append(
            f"void {name}_scores(const {precision} *x, {precision} *scores)\n{{\n    int32_t t;\n    int k;\n"
            f"    for (k = 0; k < {upper}_LABELS; k++)\n        scores[k] = initial[k];\n"
            f"    for (t = 0; t < {ensemble.n_rounds}; {step}) {{\n" + filled(loop, **words) + "    }\n}\n"
        )
    header = (
        "/* Scores F of one row.  A missing value is NaN; a value of a nominal column is the number of its\n"
        f"   category, and whatever else is missing.{told} */\n"
        f"{returned} {name}_scores(const {precision} *x, {precision} *scores); "
        f"/* x[{upper}_COLUMNS], scores[{upper}_LABELS] */\n"
    )
    if precision == "float":
        header += (
            "\n/* The largest difference from the scores in double precision, for rows of floats. */\n"
            f"#define {upper}_TOLERANCE {float(np.float32(tolerance(model))).hex()}f\n"
        )
    return Piece(header, "\n".join(parts), bool(np.isinf(threshold).any()))


def float_below(values: np.ndarray) -> np.ndarray:
    """The largest float32 that is not above a double.

    For a float x, x > t if and only if x > float_below(t): rows of floats come to the leaves of double precision.
    """
    with np.errstate(over="ignore"):
        found = np.asarray(values, np.float64).astype(np.float32)
    return np.where(found > values, np.nextafter(found, np.float32(-np.inf)), found).astype(np.float64)


def tolerance(model: Model) -> float:
    """How far sums of floats can be from sums of doubles, for rows that are floats.

    Every vote is rounded once, and every sum once: of T rounds, at most (T + 2) u times the sum of the largest
    votes, u = 2^-24, and a little more for terms of second order (Higham, Accuracy and Stability, section 4.2).
    """
    most_terms = int(np.diff(model.ensemble.first_term).max(initial=1))
    steps = model.n_rounds + 2 * most_terms
    return 1.01 * steps * 2.0**-24 * total_votes(model)


def has_products(ensemble) -> bool:
    return len(ensemble.root) > ensemble.n_rounds


def _is_abreast(model: Model) -> bool:
    """Whether trees are walked together: where every row sees all of them."""
    one_by_one = is_stumps(model) or has_products(model.ensemble) or model.ensemble.is_curved
    return not one_by_one and model.policy is None


def _one_round(model: Model) -> str:
    """Statements that add round t."""
    if is_stumps(model):
        return _STUMP_LOOP
    if model.ensemble.is_curved:
        return _CURVED_LOOP
    return _product_loop(model) if has_products(model.ensemble) else _ONE_TREE


def _goes_right(ensemble, precision: str, nominal: bool) -> str:
    """The test of one value; without branches, so that none is mispredicted."""
    missing = "((x != x) & missing_right)" if ensemble.missing_right.any() else "0"
    if missing == "0" and not nominal:
        return ""
    lines = [f"static int goes_right({precision} x, {precision} threshold, int missing_right)", "{"]
    lines += ["    return (x > threshold) | ((x != x) & missing_right);", "}", ""]
    if nominal:
        lines += [
            f"static int is_in_set({precision} x, int32_t column, int32_t set, int missing_right)",
            "{",
            "    uint32_t category;",
            "    if (!(x >= 0 && x < n_categories[column]))",
            "        return missing_right;",
            "    category = (uint32_t)x;",
            "    return sets[(uint32_t)set + (category >> 3)] >> (category & 7) & 1;",
            "}",
            "",
        ]
    return "\n".join(lines)


def _right(ensemble, nominal: bool) -> str:
    """The expression of one test, ``test`` pointing to it."""
    x = "x[test->column]"
    plain = f"{x} > test->threshold"
    if nominal or ensemble.missing_right.any():
        plain = f"goes_right({x}, test->threshold, test->missing_right)"
    if not nominal:
        return plain
    return f"test->set < 0 ? {plain}\n            : is_in_set({x}, test->column, test->set, test->missing_right)"


def _struct(ensemble, index: str, column: str, precision: str, nominal: bool, walk: bool) -> str:
    fields = [f"{precision} threshold;"]
    fields += ["int32_t set;"] if nominal else []
    fields += [f"{index} child[2];"] if walk else []
    fields += [f"{column} column;", "uint8_t missing_right;"]
    return "struct test {\n    " + "\n    ".join(fields) + "\n};\n"


def _tests(ensemble, threshold, precision: str, nominal: bool, walk: bool, order) -> list[str]:
    rows = []
    for k in order:
        row = [number(threshold[k], precision)]
        row += [str(ensemble.set_start[k])] if nominal else []
        row += [braces([str(c) for c in ensemble.child[k]])] if walk else []
        row += [str(ensemble.feature[k]), str(int(ensemble.missing_right[k]))]
        rows.append(braces(row))
    return rows


def _stumps(model, threshold, precision, nominal, numbers) -> list[str]:
    ensemble = model.ensemble
    votes = ensemble.values[-1 - ensemble.child[ensemble.root]]
    return [
        _struct(ensemble, "", index_type(model.columns.n), precision, nominal, False),
        table("static const struct test tests[]",
              _tests(ensemble, threshold, precision, nominal, False, ensemble.root)),
        table(f"static const {precision} votes[][2][{ensemble.n_labels}]",
              [braces([numbers(left), numbers(right)]) for left, right in votes]),
        filled("static int side(const struct test *test, const REAL *x)\n{\n    return RIGHT;\n}\n",
               REAL=precision, RIGHT=_right(ensemble, nominal)),
    ]  # fmt: skip


def _walks(model, threshold, precision, nominal, numbers) -> list[str]:
    ensemble = model.ensemble
    index = index_type(max(len(ensemble.feature), len(ensemble.values)) + 1)
    parts = [
        _struct(ensemble, index, index_type(model.columns.n), precision, nominal, True),
        table("static const struct test tests[]",
              _tests(ensemble, threshold, precision, nominal, True, range(len(ensemble.feature)))),
        table(f"static const {precision} votes[][{ensemble.n_labels}]", [numbers(row) for row in ensemble.values]),
    ]  # fmt: skip
    roots = [str(root) for root in ensemble.root]
    if has_products(ensemble) or ensemble.is_curved:
        parts.append(table("static const int32_t first_term[]", [str(term) for term in ensemble.first_term]))
    if _is_abreast(model):
        roots += ["-1"] * (-len(roots) % ABREAST)  # a leaf, which nobody adds
    parts.append(table(f"static const {index} roots[]", roots))
    if ensemble.is_curved:
        parts += [
            table("static const int32_t along[]", [str(column) for column in ensemble.along]),
            table("static const int32_t degree[]", [str(degree) for degree in ensemble.degree]),
            table(f"static const {precision} origin[]", [number(place, precision) for place in ensemble.origin]),
            filled(_VOTE, REAL=precision),
        ]
    walk = WALKS if _is_abreast(model) else _WALK
    return [*parts, filled(walk, REAL=precision, RIGHT=_right(ensemble, nominal), INDEX=index, ABREAST=str(ABREAST))]


# A child below zero is the leaf -1 - child.
_WALK = """static int32_t leaf_of(int32_t node, const REAL *x)
{
    while (node >= 0) {
        const struct test *test = &tests[node];
        node = test->child[RIGHT];
    }
    return -1 - node;
}
"""

# Rounds abreast: a processor does not wait for the test of one tree before it makes that of the next, and a branch
# is mispredicted once for all of them, not once for each.  Who has arrived stands still.
WALKS = """static void walk(const INDEX *root, const REAL *x, int32_t *node)
{
    int32_t all;
    int i;
    for (i = 0; i < ABREAST; i++)
        node[i] = root[i];
    do {
        all = -1;
        for (i = 0; i < ABREAST; i++) {
            const struct test *test = &tests[node[i] < 0 ? 0 : node[i]];
            int32_t next = test->child[RIGHT];
            node[i] = node[i] < 0 ? node[i] : next;
            all &= node[i]; /* below zero where all are */
        }
    } while (all >= 0);
}
"""

_STUMP_LOOP = """        const REAL *h = votes[t][side(&tests[t], x)];
        for (k = 0; k < LABELS; k++)
            scores[k] += h[k];
"""

_ONE_TREE = """        const REAL *h = votes[leaf_of(roots[t], x)];
        for (k = 0; k < LABELS; k++)
            scores[k] += h[k];
"""

LOOP = """        int32_t node[ABREAST];
        int i;
        walk(roots + t, x, node);
        for (i = 0; i < ABREAST && t + i < ROUNDS; i++)
            for (k = 0; k < LABELS; k++)
                scores[k] += votes[-1 - node[i]][k];
"""


# Votes are polynomials of a column (Horner).  ``volatile`` keeps a compiler from fusing what we round twice.
_VOTE = """static REAL vote_of(int32_t leaf, int32_t term, int k, const REAL *x)
{
    int32_t power;
    REAL place = 0, total = votes[leaf + degree[term]][k];
    if (along[term] >= 0 && x[along[term]] == x[along[term]])
        place = x[along[term]] - origin[leaf];
    for (power = degree[term] - 1; power >= 0; power--) {
        volatile REAL part = total * place;
        total = part + votes[leaf + power][k];
    }
    return total;
}
"""

_CURVED_LOOP = """        volatile REAL h[LABELS];
        int32_t term;
        for (term = first_term[t]; term < first_term[t + 1]; term++) {
            int32_t leaf = leaf_of(roots[term], x);
            for (k = 0; k < LABELS; k++)
                h[k] = term == first_term[t] ? vote_of(leaf, term, k, x) : h[k] * vote_of(leaf, term, k, x);
        }
        for (k = 0; k < LABELS; k++)
            scores[k] += h[k];
"""


def _product_loop(model: Model) -> str:
    """Terms from the first to the last.

    All terms but one of our learners vote +1 and -1, so that a fused multiplication and addition rounds as the two
    do.  Where it is not so, ``volatile`` keeps a compiler from fusing them.
    """
    scaled = np.add.reduceat(~signs_of_terms(model), model.ensemble.first_term[:-1])
    return f"""        {"volatile " if (scaled > 1).any() else ""}REAL h[LABELS];
        int32_t term = first_term[t];
        const REAL *votes_of_leaf = votes[leaf_of(roots[term], x)];
        for (k = 0; k < LABELS; k++)
            h[k] = votes_of_leaf[k];
        for (term++; term < first_term[t + 1]; term++) {{
            votes_of_leaf = votes[leaf_of(roots[term], x)];
            for (k = 0; k < LABELS; k++)
                h[k] *= votes_of_leaf[k];
        }}
        for (k = 0; k < LABELS; k++)
            scores[k] += h[k];
"""
