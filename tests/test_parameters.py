"""The page about parameters says what the code says."""

from multiboost import (
    AdaBoostMHClassifier,
    FilterBoostClassifier,
    MDDAGClassifier,
    MedianBoostRegressor,
    MultiBoostClassifier,
    MultiBoostRanker,
    MultiBoostRegressor,
    SoftCascadeClassifier,
    ViolaJonesClassifier,
    WaldBoostClassifier,
)
from multiboost.estimators.parameters import PARAMETERS, table

from .conftest import ROOT

ESTIMATORS = MultiBoostClassifier, MultiBoostRegressor, MultiBoostRanker, AdaBoostMHClassifier, MedianBoostRegressor


LEAN = MDDAGClassifier, SoftCascadeClassifier, WaldBoostClassifier, ViolaJonesClassifier


def test_the_page_has_the_tables_of_today():
    page = (ROOT / "docs" / "parameters.md").read_text()
    for made in (table(*ESTIMATORS), table(*LEAN), table(FilterBoostClassifier)):
        assert made in page, f"put this table into docs/parameters.md:\n\n{made}"


def test_the_table_has_every_parameter():
    """A row for each, with the defaults that a new estimator has."""
    rows = {row.split("`")[1]: row for row in table(*ESTIMATORS).splitlines()[2:]}
    lean = {name for e in (*LEAN, FilterBoostClassifier) for name in e().get_params(deep=False)}
    assert set(rows) | lean == set(PARAMETERS)
    assert set(rows) == {name for e in ESTIMATORS for name in e().get_params(deep=False)}
    assert "| `None` | `None` | `None` | `200` | `100` |" in rows["n_estimators"]
    assert '| `"real"` | | `"real"` | `"discrete"` | |' in rows["votes"]
    assert rows["learning_rate"].count("`--learning-rate`") == 1
    assert "`--" not in rows["warm_start"]
