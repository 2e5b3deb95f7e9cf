"""The guard against a more expensive core: work is counted, see benchmarks/work.py."""

import os

import numpy as np
import pytest
from benchmarks import callgrind, work

from multiboost.kernels.team import Team


@pytest.mark.parametrize("name", work.CASES)
def test_kernels_are_handed_no_more(name):
    assert work.complaints({name: work.handed_over(name)}, work.read()) == []


@pytest.mark.parametrize("name", work.CASES)
def test_twice_the_work_is_noticed(name):
    found = work.complaints({name: work.handed_over(name, 2)}, {name: work.handed_over(name)})
    assert len(found) == 2
    assert all("2.00 times" in text for text in found)


def test_instructions():
    """One process under valgrind for all cases; prediction is also done twice, which must be noticed."""
    try:
        found = work.instructions(twice="prediction")
    except callgrind.Unavailable as problem:
        if os.environ.get("MULTIBOOST_WORK") == "required":
            raise
        pytest.skip(str(problem))
    twice = found.pop("prediction, twice")
    assert set(found) == set(work.CASES)
    assert work.complaints(found, work.read()) == []
    assert twice[work.INSTRUCTIONS] == pytest.approx(2 * found["prediction"][work.INSTRUCTIONS], rel=0.05)
    assert len(work.complaints({"prediction": twice}, found)) == 1


def test_ledger_counts_what_kernels_get():
    """Arrays of 800, 80 and 8 bytes, two of them in a tuple."""

    def kernel(tid, n_threads, sync, x, pair, number):
        return x.sum() + pair[0].sum() + pair[1].sum() + number

    arguments = (np.ones(100), (np.ones(10), np.ones(1)), 5)
    with work.Ledger() as ledger, Team(1) as team:
        assert ledger.run(kernel, *arguments) == team.run(kernel, *arguments) == 116
    assert (ledger.calls, ledger.bytes) == (1, 888)


def test_complaints():
    recorded = {"a": {"steps": 100}}
    assert work.complaints({"a": {"steps": 109}}, recorded) == []
    assert work.complaints({"a": {"steps": 50}}, recorded) == []
    assert "1.11 times the 100 recorded" in work.complaints({"a": {"steps": 111}}, recorded)[0]
    assert "no steps are recorded" in work.complaints({"b": {"steps": 1}}, recorded)[0]
