"""The page about parameters says what the code says."""

from multiboost import (
    AdaBoostMHClassifier,
    MedianBoostRegressor,
    MultiBoostClassifier,
    MultiBoostRanker,
    MultiBoostRegressor,
)
from multiboost.estimators.parameters import PARAMETERS, table

from .conftest import ROOT

ESTIMATORS = MultiBoostClassifier, MultiBoostRegressor, MultiBoostRanker, AdaBoostMHClassifier, MedianBoostRegressor


def test_the_page_has_the_table_of_today():
    made = table(*ESTIMATORS)
    page = (ROOT / "docs" / "parameters.md").read_text()
    assert made in page, f"put this table into docs/parameters.md:\n\n{made}"


def test_the_table_has_every_parameter():
    """A row for each, with the defaults that a new estimator has."""
    rows = {row.split("`")[1]: row for row in table(*ESTIMATORS).splitlines()[2:]}
    assert set(rows) == set(PARAMETERS) == {name for e in ESTIMATORS for name in e().get_params(deep=False)}
    assert "| `None` | `None` | `None` | `200` | `100` |" in rows["n_estimators"]
    assert '| `"real"` | | `"real"` | `"discrete"` | |' in rows["votes"]
    assert rows["learning_rate"].count("`--learning-rate`") == 1
    assert "`--" not in rows["warm_start"]
