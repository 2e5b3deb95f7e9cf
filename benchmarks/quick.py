"""The benchmark of `make bench`: within ten minutes, our figures and those of other packages."""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np

from multiboost import MultiBoostClassifier

from . import core, data
from .measure import Times, error_of, interleaved, seconds_of
from .ours import REAL, ours
from .peers import PEERS, RACERS, ROUNDS, THREADS, HistGradientBoostingPerLabel, LightGBM
from .report import Report
from .startup import figures as startup_figures

RESULTS = Path(__file__).resolve().parent / "results"
BUDGET = 600.0  # seconds of the whole run
PEER_LIMIT = 60.0  # seconds one setting of a peer may take
OTHER_LIMIT = 15.0  # the same for AdaBoost and multi-output trees, so that the run stays within its budget
PROBE = 5  # rounds of a first look at a peer
RESERVE = 25.0  # seconds kept for what comes after the peers


def startup(report: Report) -> None:
    """Imports, and the first fits of a process."""
    report.title("Startup")
    for figure in startup_figures():
        report.figure(figure)


def rounds(report: Report) -> None:
    """Speed of discrete boosting."""
    report.title("Discrete votes")
    for figure in core.discrete(data.letter(), data.mnist()):
        report.figure(figure)


def mnist(report: Report) -> None:
    """Real trees on MNIST."""
    report.title("MNIST, tree:50, real votes, 100 rounds")
    for figure in core.real(data.mnist()):
        report.figure(figure)


def labels(report: Report) -> None:
    """Multi-label sets against one model per label."""
    report.title("Multi-label, defaults, against one HistGradientBoosting per label")
    for name in ("emotions", "yeast", "scene"):
        split = data.mulan(name)
        MultiBoostClassifier(n_jobs=THREADS).fit(split.X, split.y)
        probes = {n: (lambda n=n, s=split: HistGradientBoostingPerLabel(n).fit(s.X, s.y[:, :1])) for n in (1, THREADS)}
        probes[1]()
        threads = fastest(interleaved(probes, 1))
        model, peer = MultiBoostClassifier(n_jobs=THREADS), HistGradientBoostingPerLabel(threads)
        actions = {"ours": lambda m=model, s=split: m.fit(s.X, s.y), "peer": lambda m=peer, s=split: m.fit(s.X, s.y)}
        times = interleaved(actions, 2)
        loss, peer_loss = (error_of(m.predict(split.X_test), split.y_test) for m in (model, peer))
        report.row(f"{name}, Hamming loss", loss, peer_loss, "%", f"loss chosen: {model.loss_}")
        note = f"{times['ours']} against {times['peer']} with {threads} threads"
        ratio = times["ours"].median / times["peer"].median
        report.row(f"{name}, ratio of training times", ratio, 0.2, "", note)


def fastest(times: dict[int, Times]) -> int:
    """The number of threads with the shortest time."""
    return min(times, key=lambda n: times[n].low)


def probe(peer: type, split: data.Split) -> tuple[int, float]:
    """Threads that suit a peer best on this machine now, and its seconds per round, from a few rounds."""
    peer(1, 1).fit(split.X[:500], split.y[:500])  # imports
    actions = {n: (lambda n=n: peer(PROBE, n).fit(split.X, split.y)) for n in (1, THREADS)}
    times = interleaved(actions, 2)
    threads = fastest(times)
    return threads, times[threads].low / PROBE


def grid(report: Report, name: str, split: data.Split) -> list[tuple[float, float, type, int, int]]:
    """Error and seconds of every peer and number of rounds that fits in the budget, best first.

    A peer has one or two threads, whichever is faster: on small data or a busy machine two can be far slower.
    """
    found = []
    suited: dict[type, tuple[int, float]] = {}
    for peer in RACERS.values():
        try:
            suited[peer] = probe(peer, split)
        except ImportError as problem:
            report.skip(f"{name}, {peer.name}", str(problem))
    for others in (False, True):  # the ones with the low limit last: they are not to use up what the others need
        for n, peer in product(ROUNDS, [peer for peer in suited if (peer.name not in PEERS) == others]):
            threads, rate = suited[peer]
            estimate = n * rate
            room = min(OTHER_LIMIT if others else PEER_LIMIT, report.left - RESERVE)
            if estimate > room:
                why = f"about {estimate:.0f} s expected, {max(room, 0):.0f} s allowed"
                report.skip(f"{name}, {peer.name}, {n} rounds", why)
                continue
            model = peer(n, threads)
            seconds = seconds_of(lambda model=model: model.fit(split.X, split.y))
            suited[peer] = threads, seconds / n
            error = error_of(model.predict(split.X_test), split.y_test)
            report.peer(name, peer.name, n, threads, error, seconds)
            found.append((error, seconds, peer, n, threads))
    return sorted(found, key=lambda row: row[:2])


def race(report: Report, name: str, split: data.Split, base_learner: str, asked: float) -> None:
    """Our error, and our time to the best error of the peers."""
    report.title(f"{name}, {base_learner}, real votes, exponential loss, learning rate 0.3, 200 rounds")
    ours(base_learner, 2, **REAL).fit(split.X, split.y)
    model = ours(base_learner, 200, **REAL)
    times = Times.of([seconds_of(lambda: model.fit(split.X, split.y)) for _ in range(3)])
    staged = [error_of(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)]
    report.row(f"{name}, test error", staged[-1], asked, "%", f"lowest of all rounds {min(staged):.2f} %")
    report.row(f"{name}, training time", times.median, None, "s", str(times), times=times._asdict())
    peers = grid(report, name, split)
    if not peers:
        report.skip(f"{name}, time to the best error of the peers", "no peer could be run")
        return
    best, seconds, peer, n, threads = peers[0]
    report.row(f"{name}, test error against the best peer's", staged[-1], best, "%", f"{peer.name}, {n} rounds")
    reached = [t for t, error in enumerate(staged, 1) if error <= best]
    title = f"{name}, time to the best peer's error, ratio"
    if not reached:
        report.row(title, None, 0.2, "", f"{best:.2f} % not reached in {len(staged)} rounds")
        return
    t = reached[0]
    actions = {"ours": lambda: ours(base_learner, t, **REAL).fit(split.X, split.y)}
    if 3 * seconds < min(20.0, report.left - RESERVE):
        actions["peer"] = lambda: peer(n, threads).fit(split.X, split.y)
    found = interleaved(actions, 3)
    theirs = found.get("peer", Times.of([seconds]))
    other = THREADS + 1 - threads
    if 1.5 * seconds < report.left - RESERVE:  # the winner gets another try, with the other number of threads
        again = Times.of([seconds_of(lambda: peer(n, other).fit(split.X, split.y))])
        theirs, threads = (again, other) if again.median < theirs.median else (theirs, threads)
    note = f"{t} rounds {found['ours']} against {peer.name}, {n} rounds {theirs} with {threads} threads"
    details = {"rounds": t, "times": found["ours"]._asdict(), "peer_times": theirs._asdict()}
    report.row(title, found["ours"].median / theirs.median, 0.2, "", note, **details)


def pendigits(report: Report) -> None:
    """Race on pendigits."""
    race(report, "pendigits", data.pendigits(), "tree:20", 2.4)


def letter(report: Report) -> None:
    """Race on letter."""
    race(report, "letter", data.letter(), "tree:50", 2.6)


def prediction(report: Report) -> None:
    """Predicting many rows."""
    report.title("Prediction, letter, 12000 rows")
    split = data.letter()
    rows = np.tile(split.X_test, (3, 1))
    model = ours("tree:50", 200, **REAL).fit(split.X, split.y)
    try:
        peer = LightGBM(100, probe(LightGBM, split)[0]).fit(split.X, split.y)
    except ImportError as problem:
        report.skip("letter, prediction", str(problem))
        return
    model.predict(rows[:100])

    def predict_with(threads: int) -> None:
        peer.model_.set_params(n_jobs=threads)
        peer.predict(rows)

    actions = {"ours": lambda: model.predict(rows), **{n: (lambda n=n: predict_with(n)) for n in (1, THREADS)}}
    times = interleaved(actions, 5)
    own = times.pop("ours")
    threads = fastest(times)
    note = f"200 rounds {own} against LightGBM, 100 rounds {times[threads]} with {threads} threads"
    report.row("letter, ratio of prediction times", own.median / times[threads].median, 1 / 3, "", note)


PARTS = {part.__name__: part for part in (startup, rounds, mnist, labels, prediction, pendigits, letter)}


def main(arguments: list[str] | None = None) -> None:
    """Run all parts, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"which parts: {', '.join(PARTS)}; all by default")
    parser.add_argument("--output", type=Path, help="JSON file; results/quick.json for a run of all parts")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    output = given.output or (None if given.parts else RESULTS / "quick.json")
    report = Report(BUDGET)
    for name in given.parts or PARTS:
        try:
            PARTS[name](report)
        except data.DataMissing as problem:
            report.skip(name, str(problem))
        if output:
            report.write(output)
    report.close()


if __name__ == "__main__":
    main()
