"""Scores of one row in integers, as C99.

A model of stumps is one table for each column: sorted cuts, and between two of them the sum of all votes of that
column.  Sums of integers do not depend on their order, so that this is the sum over the rounds, bit for bit.
"""

from __future__ import annotations

import numpy as np

from .c_scores import ABREAST, LOOP, WALKS, Piece, has_products
from .c_text import braces, filled, index_type, integer, number, table
from .exportable import is_stumps
from .fixed import FixedPoint


def fixed_scores(fixed: FixedPoint, name: str) -> Piece:
    """``NAME_quantise(x, codes)`` and ``NAME_scores(codes, scores)``.

    Parameters
    ----------
    fixed : FixedPoint
    name : str
        That identifiers begin with.
    """
    upper = name.upper()
    header = f"""/* Rows and scores are integers. */
typedef int{fixed.bits}_t {name}_code;
#define {upper}_MISSING ({fixed.missing + 1} - 1)
#define {upper}_ONE {fixed.one} /* the score 1.0 */

/* Codes of one row.  A missing value is NaN; a value of a nominal column is the number of its category, and
   whatever else is missing. */
void {name}_quantise(const double *x, {name}_code *codes);

/* Scores F of one row, times {upper}_ONE. */
void {name}_scores(const {name}_code *codes, int32_t *scores); /* scores[{upper}_LABELS] */
"""
    initial = table("static const int32_t initial[]", [integer(v) for v in fixed.initial.tolist()])
    scores = _column_tables(fixed) if is_stumps(fixed.model) else _walks(fixed)
    body = "\n".join([_quantise(fixed), initial, scores])
    return Piece(header, filled(body, NAME=upper, CODE=f"{name}_code", MODEL=name))


def _quantise(fixed: FixedPoint) -> str:
    """Grids as a table; a nominal column has the step 1, and what is no category is missing."""
    rows = []
    for grid, count in zip(fixed.grids, fixed.n_categories.tolist(), strict=True):
        low, high = (0, count - 1) if grid is None else (grid.low, grid.high)
        step, zero = (1.0, 0.0) if grid is None else (grid.step, grid.zero)
        rows.append(braces([number(step, "double"), number(zero, "double"), integer(low), integer(high),
                            str(int(grid is None))]))  # fmt: skip
    grids = table("static const struct grid grids[]", rows)
    return f"""struct grid {{
    double step, zero;
    int32_t low, high;
    uint8_t is_nominal;
}};

{grids}
static CODE code_of(double x, const struct grid *grid)
{{
    int32_t code;
    if (x != x || (grid->is_nominal && !(x >= 0 && x < (double)grid->high + 1)))
        return NAME_MISSING;
    x = (x - grid->zero) / grid->step;
    if (x <= grid->low)
        return (CODE)grid->low;
    if (x >= grid->high)
        return (CODE)grid->high;
    code = (int32_t)x;
    return (CODE)(code - (x < code));
}}

void MODEL_quantise(const double *x, CODE *codes)
{{
    int j;
    for (j = 0; j < NAME_COLUMNS; j++)
        codes[j] = code_of(x[j], &grids[j]);
}}
"""


def _column_tables(fixed: FixedPoint) -> str:
    """A table for each column; only those that are tested have one."""
    ensemble = fixed.model.ensemble
    columns: list[list[int]] = []
    cuts: list[int] = []
    rows: list[np.ndarray] = []
    for j in np.unique(ensemble.feature[ensemble.root]).tolist():
        tests = ensemble.root[ensemble.feature[ensemble.root] == j]
        votes = fixed.votes[-1 - ensemble.child[tests]]  # (tests, 2, K)
        here, right = _sides(fixed, j, tests)
        columns.append([j, len(cuts), len(here), len(rows), int(fixed.n_categories[j])])
        cuts += here
        rows += [np.where(side[:, None], votes[:, 1], votes[:, 0]).sum(axis=0) for side in right]
    top = 1
    while 2 * top <= max((column[2] for column in columns), default=1):
        top *= 2
    entries = [braces([str(v) for v in column]) for column in columns]
    sums = table("static const int32_t sums[][NAME_LABELS]", [braces([integer(int(v)) for v in row]) for row in rows])
    return f"""struct column {{
    int32_t column, first_cut, n_cuts, first_sum, n_categories;
}};

{table("static const struct column columns[]", entries)}
{table("static const CODE cuts[]", [integer(v) for v in cuts])}
/* Of each column: what it adds where it is missing, then below its first cut and above each of them; or for each
   category. */
{sums}
static int32_t sum_of(const struct column *column, CODE code)
{{
    const CODE *cut = cuts + column->first_cut;
    int32_t n = 0, step;
    if (column->n_categories >= 0)
        return column->first_sum + (code >= 0 && code < column->n_categories ? 1 + code : 0);
    if (code == NAME_MISSING)
        return column->first_sum;
    for (step = {top}; step > 0; step >>= 1)
        if (n + step <= column->n_cuts && code > cut[n + step - 1])
            n += step;
    return column->first_sum + 1 + n;
}}

void MODEL_scores(const CODE *codes, int32_t *scores)
{{
    int j, k;
    for (k = 0; k < NAME_LABELS; k++)
        scores[k] = initial[k];
    for (j = 0; j < {len(columns)}; j++) {{
        const int32_t *sum = sums[sum_of(&columns[j], codes[columns[j].column])];
        for (k = 0; k < NAME_LABELS; k++)
            scores[k] += sum[k];
    }}
}}
"""


def _sides(fixed: FixedPoint, column: int, tests: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
    """The cuts of a column, and which of its tests go right: where it is missing, then interval by interval."""
    ensemble, count = fixed.model.ensemble, int(fixed.n_categories[column])
    missing = ensemble.missing_right[tests]
    if count >= 0:
        start = ensemble.set_start[tests]
        bits = [(ensemble.sets[start + c // 8] >> (c % 8)) & 1 for c in range(count)]
        return [], [missing, *(bit.astype(bool) for bit in bits)]
    cut = fixed.cut[tests]
    cuts = np.unique(cut).tolist()
    return cuts, [missing, np.zeros(len(tests), bool), *(cut <= c for c in cuts)]


def _walks(fixed: FixedPoint) -> str:
    ensemble = fixed.model.ensemble
    index = index_type(max(len(ensemble.feature), len(ensemble.values)) + 1)
    tests = [
        braces([integer(int(cut)), str(start), braces([str(c) for c in child]), str(column), str(int(missing))])
        for cut, start, child, column, missing in zip(
            fixed.cut, ensemble.set_start, ensemble.child, ensemble.feature, ensemble.missing_right, strict=True
        )
    ]
    rows = [braces([integer(int(v)) for v in row]) for row in fixed.votes]
    roots = [str(root) for root in ensemble.root] + ["-1"] * (-len(ensemble.root) % ABREAST)
    tables = f"""struct test {{
    int32_t cut, set;
    {index} child[2];
    {index_type(fixed.model.columns.n)} column;
    uint8_t missing_right;
}};

{table("static const struct test tests[]", tests)}
{table("static const int32_t votes[][NAME_LABELS]", rows)}
{table(f"static const {index} roots[]", roots)}
{_SIDE_OF_NUMBER if (ensemble.set_start < 0).all() else _side(fixed)}
"""
    return tables + (_products(ensemble) if has_products(ensemble) else _trees(ensemble))


_SIDE_OF_NUMBER = """static int side(const struct test *test, int32_t code)
{
    return code == NAME_MISSING ? test->missing_right : code > test->cut;
}
"""


def _side(fixed: FixedPoint) -> str:
    """The side of a number or of a category."""
    counts = [str(max(0, n)) for n in fixed.n_categories.tolist()]
    return f"""{table("static const int32_t n_categories[]", counts)}
{table("static const uint8_t sets[]", [str(byte) for byte in fixed.model.ensemble.sets])}
static int side(const struct test *test, int32_t code)
{{
    if (test->set < 0)
        return code == NAME_MISSING ? test->missing_right : code > test->cut;
    if (code < 0 || code >= n_categories[test->column])
        return test->missing_right;
    return sets[test->set + (code >> 3)] >> (code & 7) & 1;
}}
"""


def _trees(ensemble) -> str:
    """Several trees abreast, as `c_scores` walks them."""
    words = {"REAL": "CODE", "ABREAST": str(ABREAST), "LABELS": "NAME_LABELS", "ROUNDS": str(ensemble.n_rounds)}
    words |= {"INDEX": index_type(max(len(ensemble.feature), len(ensemble.values)) + 1)}
    walk = filled(WALKS, RIGHT="side(test, x[test->column])", **words)
    return f"""{walk}
void MODEL_scores(const CODE *x, int32_t *scores)
{{
    int32_t t;
    int k;
    for (k = 0; k < NAME_LABELS; k++)
        scores[k] = initial[k];
    for (t = 0; t < {ensemble.n_rounds}; t += {ABREAST}) {{
{filled(LOOP, **words)}    }}
}}
"""


def _products(ensemble) -> str:
    """One term after the other."""
    return f"""{table("static const int32_t first_term[]", [str(term) for term in ensemble.first_term])}
static int32_t leaf_of(int32_t node, const CODE *codes)
{{
    while (node >= 0)
        node = tests[node].child[side(&tests[node], codes[tests[node].column])];
    return -1 - node;
}}

void MODEL_scores(const CODE *codes, int32_t *scores)
{{
    int32_t t, term;
    int k;
    for (k = 0; k < NAME_LABELS; k++)
        scores[k] = initial[k];
    for (t = 0; t < {ensemble.n_rounds}; t++) {{
        int32_t h[NAME_LABELS];
        for (k = 0; k < NAME_LABELS; k++)
            h[k] = 1;
        for (term = first_term[t]; term < first_term[t + 1]; term++) {{
            const int32_t *factor = votes[leaf_of(roots[term], codes)];
            for (k = 0; k < NAME_LABELS; k++)
                h[k] *= factor[k];
        }}
        for (k = 0; k < NAME_LABELS; k++)
            scores[k] += h[k];
    }}
}}
"""
