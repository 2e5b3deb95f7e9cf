"""Machinery of the benchmarks; nothing here is timed and nothing is fetched."""

import json
import signal
import subprocess
import sys
import types

import numpy as np
import pytest
from benchmarks import cells, data, full, full_page, memory, prediction, race, scaling
from benchmarks.cells import Cell, Progress, Results, run
from benchmarks.curve import Curve, log_rounds, own_curve, peer_curve
from benchmarks.measure import environment, error_of, seconds_of, write_json
from benchmarks.ours import NAME, ours
from benchmarks.peers import RACERS, AdaBoostTrees, CatBoost, HistGradientBoosting, LightGBM, XGBoost
from benchmarks.size import FULL, SMALL
from sklearn.datasets import load_digits


def no_network(name, version):
    raise AssertionError(f"a test wants to fetch {name}")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setattr(data.standard, "__defaults__", (no_network,))
    monkeypatch.setattr(data.from_openml, "__defaults__", (no_network,))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return data.divide(X, y, 300, n_test=200)


# ---- exponents


@pytest.mark.parametrize("power", [0.3, 1.0, 1.7])
def test_exponent_of_a_power_law(power):
    values = np.array([1000, 3000, 10_000, 300_000])
    assert scaling.exponent(values, 0.02 * values**power) == pytest.approx(power, abs=1e-9)


def test_exponent_of_the_last_decade_ignores_what_is_below():
    values = np.array([1, 3, 10, 30, 100, 300, 1000])
    seconds = np.where(values < 100, 5.0, 5.0 * (values / 100) ** 1.2)
    last = scaling.upper(values, seconds)
    assert last[0].tolist() == [100, 300, 1000]
    assert scaling.exponent(*last) == pytest.approx(1.2, abs=1e-9)
    assert scaling.exponent(values, seconds) < 0.9


def test_every_axis_spans_two_decades():
    for axis, values in scaling.AXES.items():
        assert max(values) >= 100 * min(values), axis


# ---- cells


class Count:
    """Measurements that say how often they were made."""

    def __init__(self):
        self.made = []

    def cell(self, key, settings=None, found=None, **options):
        def measure(results):
            self.made.append(key)
            return {"value": key} if found is None else found

        return Cell(key, settings or {}, measure, **options)


def test_finished_cells_are_skipped(tmp_path):
    count = Count()
    plan = [count.cell("a/1"), count.cell("a/2", {"rounds": 3, "sizes": (1, 2)})]
    run(plan, Results(tmp_path / "r.json"))
    run(plan, Results(tmp_path / "r.json"))
    assert count.made == ["a/1", "a/2"]
    run(plan, Results(tmp_path / "r.json", fresh=True))
    assert count.made == 2 * ["a/1", "a/2"]


def test_changed_settings_source_and_limits_are_measured_again(tmp_path, monkeypatch):
    path, count = tmp_path / "r.json", Count()
    skipped = {"skipped": "too long", "limit": 10.0}
    plan = [
        count.cell("a/ours"),
        count.cell("a/peer", {"version": "1"}, ours=False),
        count.cell("a/slow", found=skipped, ours=False, limit=10.0),
        count.cell("a/both", ours=False, after=("a/peer",)),
    ]
    run(plan, Results(path))
    count.made.clear()
    run([plan[0], count.cell("a/peer", {"version": "2"}, ours=False), *plan[2:]], Results(path))
    assert count.made == ["a/peer", "a/both"]  # what comes after it, too
    count.made.clear()
    plan[1] = plan[1]._replace(settings={"version": "2"})
    run([*plan[:2], plan[2]._replace(limit=20.0), plan[3]], Results(path))
    assert count.made == ["a/slow"]
    count.made.clear()
    monkeypatch.setattr(cells, "source", lambda: "another")
    run(plan, Results(path, keep=True))
    assert count.made == []
    run(plan, Results(path))
    assert count.made == ["a/ours"]


def test_cells_that_are_not_wanted_any_more_go_and_other_parts_stay(tmp_path):
    path, count = tmp_path / "r.json", Count()
    run([count.cell("a/1"), count.cell("a/2"), count.cell("b/1")], Results(path))
    run([count.cell("a/1"), count.cell("a/3")], Results(path))
    assert sorted(json.loads(path.read_text())["cells"]) == ["a/1", "a/3", "b/1"]


def test_a_failure_is_noted_and_tried_again(tmp_path, capsys):
    path, count = tmp_path / "r.json", Count()

    def fails(results):
        raise RuntimeError("no memory")

    run([Cell("a/1", {}, fails), count.cell("a/2")], Results(path))
    assert json.loads(path.read_text())["failed"] == {"a/1": "RuntimeError: no memory"}
    assert "failed a/1" in capsys.readouterr().out
    run([count.cell("a/1"), count.cell("a/2")], Results(path))
    kept = json.loads(path.read_text())
    assert count.made == ["a/2", "a/1"]
    assert not kept["failed"]
    assert [cell["run"] for cell in kept["cells"].values()] == [0, 1]


KILLED = """
import os, signal, sys
from pathlib import Path
from benchmarks.cells import Cell, Results, run
def dies(results):
    os.kill(os.getpid(), signal.SIGKILL)
run([Cell("a/1", {}, lambda _: {"value": 1}), Cell("a/2", {}, dies)], Results(Path(sys.argv[1])))
"""


def test_a_killed_run_goes_on(tmp_path):
    path = tmp_path / "r.json"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)], env=environment(), capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    count = Count()
    run([count.cell("a/1"), count.cell("a/2")], Results(path))
    assert count.made == ["a/2"]
    kept = json.loads(path.read_text())["cells"]
    assert kept["a/1"]["found"] == {"value": 1}
    assert [name.name for name in tmp_path.iterdir()] == ["r.json"]


def test_progress_expects_what_cells_of_the_part_took():
    count = Count()
    plan = [count.cell(key) for key in ("a/1", "a/2", "a/3", "b/1", "b/2")]
    progress = Progress(plan)
    assert progress.left() is None
    progress.finish(plan[0], 10.0)
    assert progress.left() == 40.0  # nothing is known of b: as the others
    progress.finish(plan[3], 100.0)
    progress.cell = plan[1]
    assert progress.left() == 10.0 + 10.0 + 100.0
    assert "2/5 done, about 0:02:00 left  a/2" in progress.line()


def test_json_keeps_its_numbers(tmp_path):
    content = {"a": [1, 2.5, -3e-9, 1e20], "b": [], "c": [[1, 2], [3]], "d": "text, [1,  2]x", "e": [None, True]}
    write_json(tmp_path / "x.json", content)
    text = (tmp_path / "x.json").read_text()
    found = json.loads(text)
    assert {**found, "d": None} == {**content, "d": None}
    assert '"a": [ 1, 2.5, -3e-09, 1e+20 ]' in text


@pytest.mark.parametrize("size", [FULL, SMALL])
def test_keys_of_cells_are_unique_and_begin_with_their_part(size):
    keys = []
    for name, part in full.PARTS.items():
        found = list(part(size))
        assert all(cell.key.startswith(f"{name}/") for cell in found)
        assert all(json.loads(json.dumps(cell.settings)) for cell in found if cell.settings)
        keys += [cell.key for cell in found]
    assert len(keys) == len(set(keys))


# ---- curves


def test_time_to_an_error_against_a_loop():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        rounds = np.unique(rng.integers(1, 100, n))
        errors = rng.integers(0, 8, len(rounds)) / 2
        curve = Curve.of(rounds, np.cumsum(rng.random(len(rounds))), errors)
        level = rng.integers(-1, 9) / 2
        expected = None
        for t, seconds, error in zip(*curve, strict=True):
            if error <= level:
                expected = (t, seconds)
                break
        assert curve.first(level) == expected


def test_equal_rounds_against_all_pairs():
    rng = np.random.default_rng(1)
    for _ in range(100):
        one, two = (Curve.of(range(1, 8), np.ones(7), rng.integers(0, 6, 7)) for _ in range(2))
        pairs = [(max(a, b), i, j) for i, a in enumerate(one.errors, 1) for j, b in enumerate(two.errors, 1)]
        level, i, _ = min(pairs)  # the lowest common error, then the fewest rounds of the first
        assert prediction.equal_rounds(one, two)[:2] == (level, i)
        assert prediction.equal_rounds(one, two)[2] == min(j for error, _, j in pairs if error == level)


def test_logarithmic_rounds_have_both_ends():
    for n in (1, 2, 7, 100, 1000):
        rounds = log_rounds(n)
        assert rounds[0] == 1
        assert rounds[-1] == n
        assert rounds == sorted(set(rounds))
        assert len(rounds) <= 20


def test_a_thinned_curve_has_points_of_the_curve():
    curve = Curve.of(range(1, 501), np.arange(1, 501) / 7, np.linspace(50, 1, 500))
    thin = curve.thinned(30)
    points = set(zip(*curve, strict=True))
    assert set(zip(*thin, strict=True)) <= points
    assert thin.rounds[0] == 1
    assert thin.rounds[-1] == 500
    assert 20 <= len(thin.rounds) <= 30


def test_our_curve(digits):
    model = ours("stump", 12, votes="discrete").fit(digits.X, digits.y)
    each = model.history_["seconds_search"] + model.history_["seconds_update"]
    curve = own_curve(model, 100.0, digits.X_test, digits.y_test)
    assert curve.rounds == list(range(1, 13))
    assert curve.seconds[-1] == pytest.approx(100.0, rel=1e-4)
    assert curve.seconds[0] == pytest.approx(100.0 - each[1:].sum(), rel=1e-4)
    shorter = ours("stump", 5, votes="discrete").fit(digits.X, digits.y)
    assert curve.errors[4] == pytest.approx(error_of(shorter.predict(digits.X_test), digits.y_test), abs=1e-3)


# ---- peers


@pytest.mark.parametrize("peer", RACERS.values(), ids=list(RACERS))
def test_stages_of_a_peer_are_its_shorter_models(peer, digits):
    if peer.package != "scikit-learn":
        pytest.importorskip(peer.package)
    X, X_test = digits.X[:, 10:14], digits.X_test[:, 10:14]  # four columns, as AdaBoost stops where nothing is wrong
    model = peer(6, threads=1).fit(X, digits.y)
    stages = list(model.staged(X_test, [1, 4, 6]))
    np.testing.assert_array_equal(stages[2], model.predict(X_test))
    np.testing.assert_array_equal(stages[1], model.shortened(4, X, digits.y).predict(X_test))
    curve = peer_curve(model, 12.0, X_test, digits.y_test)
    assert curve.rounds == [1, 2, 3, 4, 5, 6]
    assert curve.errors[3] == pytest.approx(error_of(stages[1], digits.y_test), abs=1e-3)


@pytest.mark.parametrize("peer", RACERS.values(), ids=list(RACERS))
def test_seconds_of_the_rounds_of_a_peer(peer, digits):
    if peer.package != "scikit-learn":
        pytest.importorskip(peer.package)
    model = peer(5, threads=1)
    taken = seconds_of(lambda: model.fit(digits.X[:, 10:14], digits.y))
    seconds = model.seconds_at([1, 2, 4, 5], taken)
    if peer.package == "scikit-learn":
        assert seconds == pytest.approx([taken / 5, 2 * taken / 5, 4 * taken / 5, taken])
    else:
        assert len(model.clock_) == 5
        assert 0 < seconds[0] < seconds[1] < seconds[2] < seconds[3] == taken


def test_the_grid_is_on_a_peers_curve(digits):
    model = HistGradientBoosting(50).fit(digits.X[:200], digits.y[:200])
    curve = peer_curve(model, 100.0, digits.X_test, digits.y_test, points=4, grid=(33, 44, 55))
    assert {33, 44, 50} < set(curve.rounds)
    assert 55 not in curve.rounds
    until = curve.until(44)
    assert (until.rounds[-1], until.seconds[-1]) == (44, 88.0)
    assert until.errors[-1] == curve.errors[curve.rounds.index(44)]


@pytest.mark.parametrize(
    ("peer", "stage"),
    [
        (CatBoost, lambda model, X: list(model.staged_predict(X, prediction_type="Class"))[2][:, 0]),
        (XGBoost, lambda model, X: np.argmax(model.predict_proba(X, iteration_range=(0, 3)), axis=1)),
        (LightGBM, lambda model, X: np.argmax(model.booster_.predict(X, num_iteration=3), axis=1)),
    ],
    ids=["CatBoost", "XGBoost", "LightGBM"],
)
def test_stages_of_a_peer_by_another_way(peer, stage, digits):
    pytest.importorskip(peer.package)
    model = peer(5, threads=1).fit(digits.X, digits.y)
    (third,) = model.staged(digits.X_test, [3])
    np.testing.assert_array_equal(third, stage(model.model_, digits.X_test))


@pytest.mark.parametrize("peer", [peer for peer in RACERS.values() if peer.stops], ids=lambda peer: peer.name)
def test_a_peer_stops_when_the_time_is_over(peer, digits):
    pytest.importorskip(peer.package)
    model = peer(500, threads=1, limit=0.0).fit(digits.X[:, 10:14], digits.y)
    assert model.made == 1
    np.testing.assert_array_equal(model.predict(digits.X_test[:, 10:14]), *model.staged(digits.X_test[:, 10:14], [1]))


def test_affordable_rounds():
    assert race.affordable(1000, 800.0, 900.0) == 1000
    assert race.affordable(1000, 1800.0, 900.0) == 450  # nine tenths of what the limit allows
    assert race.affordable(100, 900_000.0, 900.0) is None  # less than ten rounds say nothing


# ---- data


def rows_of(name, extra=500):
    """Classes with the counts of the standard training part, in one order, then others."""
    counts = data.STANDARD[name].counts
    y = np.repeat(np.arange(len(counts)), counts)
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.permutation(y), np.zeros(extra, int)])
    return np.arange(len(y), dtype=float)[:, None] / 3, y.astype(str)


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MULTIBOOST_DATA", str(tmp_path))


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("name", ["pendigits", "letter", "isolet"])
def test_the_standard_order_is_recognised(name):
    X, y = rows_of(name)
    split, origin = data.standard(name, lambda *_: (X, y))
    n = data.STANDARD[name].n_train
    assert origin == "OpenML, the standard split"
    np.testing.assert_array_equal(split.X, X[:n])
    np.testing.assert_array_equal(split.X_test, X[n:])
    np.testing.assert_array_equal(np.unique(y)[split.y], y[:n])


@pytest.mark.usefixtures("empty_folder")
def test_another_order_gives_a_random_split_and_says_so():
    X, y = rows_of("pendigits")
    X, y = X[::-1], y[::-1]
    split, origin = data.standard("pendigits", lambda *_: (X, y))
    again, _ = data.standard("pendigits", lambda *_: (X, y))
    assert "random" in origin
    assert len(split.y) == 7494
    np.testing.assert_array_equal(np.sort(np.concatenate([split.X, split.X_test]), axis=0), np.sort(X, axis=0))
    np.testing.assert_array_equal(split.X, again.X)


@pytest.mark.usefixtures("empty_folder")
def test_covertype_has_a_fixed_sample():
    X = np.arange(160_000)[:, None]
    split, _ = data.standard("covertype", lambda *_: (X, X[:, 0] % 7))
    assert (len(split.y), len(split.y_test)) == (100_000, 50_000)
    assert not np.intersect1d(split.X, split.X_test).size


@pytest.mark.usefixtures("empty_folder")
def test_without_folder_and_network_the_reason_is_clear():
    def unreachable(name, version):
        raise OSError("name or service not known")

    with pytest.raises(data.DataMissing, match=r"letter is neither in a data folder nor .* not known"):
        data.standard("letter", unreachable)


@pytest.mark.usefixtures("empty_folder")
def test_too_few_rows_are_refused():
    with pytest.raises(data.DataMissing, match="usps has 10 rows"):
        data.standard("usps", lambda *_: (np.zeros((10, 2)), np.zeros(10)))


@pytest.mark.parametrize("name", ["pendigits", "letter", "usps", "isolet", "mnist"])
def test_counts_are_those_of_the_standard_files(name):
    try:
        split = data.STANDARD[name].load()
    except data.DataMissing as problem:
        pytest.skip(str(problem))
    assert len(split.y) == data.STANDARD[name].n_train
    assert tuple(sorted(np.bincount(split.y).tolist())) == data.STANDARD[name].counts


def test_generated_tables_do_not_depend_on_their_parts():
    X, y = data.generated(150_000, 3, 4)
    X_again, y_again = data.generated(150_000, 3, 4)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert np.bincount(y).min() > 10_000
    assert np.unique(X[:, 0]).size > 140_000  # the second part is another one


def test_memory_of_a_fit_counts_what_is_kept(monkeypatch):
    """A process that keeps 50 MB during its fit is seen to."""
    code = (
        "import json, sys, numpy as np; from benchmarks import memory\n"
        "class Greedy:\n"
        "    def fit(self, X, y): self.kept = np.ones(len(X) * 12500)\n"
        "memory.classifier = lambda method, parameters: Greedy()\n"
        "memory.fit_loaded(*sys.argv[1:])\n"
    )
    real = memory.fresh
    monkeypatch.setattr(memory, "fresh", lambda _, *arguments, **options: real(code, *arguments, **options))
    found = memory.memory_of_fit(np.zeros((1000, 2)), np.zeros(1000), NAME, {"n_estimators": 1})
    assert found["input_bytes"] == 16_000
    assert 45e6 < found["bytes"] < 160e6


# ---- the page


@pytest.fixture(scope="module")
def small_race(tmp_path_factory, digits):
    """A race on one small set with two peers."""
    path = tmp_path_factory.mktemp("race") / "full.json"
    size = SMALL._replace(cut=None, limit=1e9)
    standard = {"digits": data.Standard(lambda: digits, "digits", 1, 300)}
    peers = {peer.name: peer for peer in (HistGradientBoosting, AdaBoostTrees)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "STANDARD", standard)
        patch.setattr(race, "SETTINGS", {"digits": {"base_learner": "stump", "n_estimators": 10, "votes": "discrete"}})
        patch.setattr(race, "RACERS", peers)
        race.table.cache_clear()
        run(race.cells(size), Results(path, threads=2))
        race.table.cache_clear()
    return json.loads(path.read_text())


@pytest.fixture
def digits_only(monkeypatch):
    monkeypatch.setattr(data, "STANDARD", {"digits": None})
    monkeypatch.setattr(full_page, "RACERS", {peer.name: peer for peer in (HistGradientBoosting, AdaBoostTrees)})


def page_of(results, tmp_path):
    pytest.importorskip("matplotlib")
    return full_page.page(results, tmp_path / "pictures", tmp_path / "table31.json")


def test_a_race_has_every_cell(small_race):
    assert not small_race["failed"]
    found = {key: cell["found"] for key, cell in small_race["cells"].items()}
    assert len(found) == 2 + 2 * 2 + 1
    theirs = {key: what for key, what in found.items() if key[-1].isdigit()}
    best = min(theirs, key=lambda key: (theirs[key]["error"], theirs[key]["seconds"]))
    duel, own = found["race/digits/MultiBoost against the best"], found["race/digits/MultiBoost"]
    assert f"race/digits/{duel['peer']}/{duel['peer_rounds']}" == best
    reached = [t for t, error in enumerate(own["curve"]["errors"], 1) if error <= theirs[best]["error"]]
    assert duel["rounds"] == (reached[0] if reached else None)
    if reached:
        ratios = np.divide(duel["seconds"], duel["peer_seconds"])
        assert duel["ratio"]["median"] == pytest.approx(np.median(ratios))


def test_shorter_runs_of_a_race_are_beginnings_of_the_longest(small_race, digits):
    for peer in (HistGradientBoosting, AdaBoostTrees):
        short, long = (small_race["cells"][f"race/digits/{peer.name}/{n}"]["found"] for n in (2, 4))
        alone = peer(2).fit(digits.X, digits.y)
        assert short["error"] == pytest.approx(error_of(alone.predict(digits.X_test), digits.y_test), abs=1e-3)
        made = min(2, long["made"])  # AdaBoost stops where nothing is wrong
        assert short["seconds"] == pytest.approx(long["seconds"] * made / long["made"], rel=1e-3)
        assert short["curve"]["rounds"] == [*range(1, made + 1)]


@pytest.mark.usefixtures("digits_only")
def test_the_page_names_the_best_peer_and_draws_all(small_race, tmp_path):
    text = page_of(small_race, tmp_path)
    errors = {k: c["found"]["error"] for k, c in small_race["cells"].items() if k.rsplit("/", 1)[1].isdigit()}
    assert f"at most {min(errors.values()):.2f} %" in text
    picture = (tmp_path / "pictures" / "race-digits.svg").read_text()
    for name in ("MultiBoost", "MultiBoost, defaults", HistGradientBoosting.name, AdaBoostTrees.name):
        assert name in picture
    assert "- the part `scaling`" in text


@pytest.mark.usefixtures("digits_only")
def test_a_page_from_any_part_of_the_cells(small_race, tmp_path, monkeypatch):
    monkeypatch.setattr(full_page.picture, "race", lambda name, *_: f"{name}.svg")
    keys = list(small_race["cells"])
    for k in range(len(keys) + 1):
        for chosen in (keys[:k], keys[k:]):
            some = {key: small_race["cells"][key] for key in chosen}
            text = page_of({**small_race, "cells": some}, tmp_path)
            assert ("- the part `race`" in text) == (not chosen)
            assert "- the seeds' Table 3.1" in text


def test_a_page_says_what_was_skipped_and_what_failed(small_race, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "STANDARD", {"digits": None})
    cell = {"settings": {}, "run": 0, "source": "", "load_after": 0.0, "seconds": 1.0}
    found = {"skipped": "about 2000 s expected, 900 s allowed"}
    results = {**small_race, "failed": {"memory/XGBoost": "RuntimeError: no memory"}}
    results["cells"] = {**small_race["cells"], "race/digits/CatBoost/4": {**cell, "found": found}}
    text = page_of(results, tmp_path)
    assert "| CatBoost | 4 |  | skipped, about 2000 s expected, 900 s allowed |" in text
    assert "- memory/XGBoost: RuntimeError: no memory" in text


def test_the_page_has_the_section_of_another_module(small_race, tmp_path, monkeypatch):
    module = types.SimpleNamespace(section=lambda found: f"## Table 3.1\n\n{found['pendigits']} %")
    monkeypatch.setitem(sys.modules, "benchmarks.table31", module)
    empty = {**small_race, "cells": {}}
    assert "- the seeds' Table 3.1" in page_of(empty, tmp_path)
    (tmp_path / "table31.json").write_text('{"pendigits": 1.25}')
    text = page_of(empty, tmp_path)
    assert "## Table 3.1\n\n1.25 %\n" in text
    assert "- the seeds' Table 3.1" not in text


def test_the_page_without_results_says_how_to_make_them(tmp_path, capsys):
    with pytest.raises(SystemExit):
        full_page.main(["--results", str(tmp_path / "none.json")])
    assert "make bench-full" in capsys.readouterr().err


def test_an_interrupted_run_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setitem(full.PARTS, "core", lambda size: [Count().cell("core/1"), Cell("core/2", {}, stop)])
    path = tmp_path / "r.json"
    with pytest.raises(SystemExit, match="the same command goes on"):
        full.main(["core", "--output", str(path)])
    assert list(json.loads(path.read_text())["cells"]) == ["core/1"]


def test_some_cells_of_a_part(tmp_path, monkeypatch, capsys):
    count = Count()
    monkeypatch.setitem(
        full.PARTS, "core", lambda size: [count.cell(key) for key in ("core/a/1", "core/a/2", "core/ab")]
    )
    path = str(tmp_path / "r.json")
    full.main(["core/ab", "--output", path])
    full.main(["core/a", "--output", path])  # keeps what it does not measure
    assert count.made == ["core/ab", "core/a/1", "core/a/2"]
    full.main(["core", "--output", path])
    assert count.made == ["core/ab", "core/a/1", "core/a/2"]
    with pytest.raises(SystemExit):
        full.main(["core/c", "--output", path])
    assert "there are no cells core/c" in capsys.readouterr().err


def test_unknown_parts_and_limits_are_refused(capsys):
    with pytest.raises(SystemExit):
        full.main(["rase"])
    assert "there is no part 'rase'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        full.main(["race", "--limit", "0"])
    assert "above 0" in capsys.readouterr().err
