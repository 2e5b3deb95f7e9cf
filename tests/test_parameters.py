"""The page about parameters says what the code says."""

from multiboost import AdaBoostMHClassifier, MultiBoostClassifier
from multiboost.estimators.parameters import PARAMETERS, table

from .conftest import ROOT


def test_the_page_has_the_table_of_today():
    made = table(MultiBoostClassifier, AdaBoostMHClassifier)
    page = (ROOT / "docs" / "parameters.md").read_text()
    assert made in page, f"put this table into docs/parameters.md:\n\n{made}"


def test_the_table_has_every_parameter():
    """A row for each, with the defaults that a new estimator has."""
    rows = {row.split("`")[1]: row for row in table(MultiBoostClassifier, AdaBoostMHClassifier).splitlines()[2:]}
    assert set(rows) == set(PARAMETERS) == set(MultiBoostClassifier().get_params(deep=False))
    assert "| `200` | `200` |" in rows["n_estimators"]
    assert '| `"real"` | `"discrete"` |' in rows["votes"]
    assert rows["learning_rate"].count("`--learning-rate`") == 1
    assert "`--" not in rows["warm_start"]
