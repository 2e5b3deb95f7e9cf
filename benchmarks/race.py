"""The race: our error and seconds beside the peers', and our time to each error that a peer reaches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter

import numpy as np

from multiboost import MultiBoostClassifier

from . import data
from .cells import Cell, Results
from .curve import Curve, own_curve, peer_curve
from .measure import Times, error_of, in_turn, seconds_of, version
from .ours import DEFAULTS, NAME, REAL, ours, warm_up
from .peers import RACERS, THREADS, Peer
from .size import Size

SETTINGS: dict[str, dict] = {
    "pendigits": {"base_learner": "tree:20", "n_estimators": 300, **REAL},
    "letter": {"base_learner": "tree:50", "n_estimators": 500, **REAL},
    "usps": {"base_learner": "tree:50", "n_estimators": 300, **REAL},
    "isolet": {"base_learner": "tree:20", "n_estimators": 400, **REAL},
    "mnist": {"base_learner": "tree:50", "n_estimators": 600, **REAL},
    "covertype": {"base_learner": "tree:1500", "n_estimators": 200, **REAL},
}
SHORT = 20.0  # seconds: a shorter fit is repeated
FEWEST = 10  # rounds of a run that stands in for a longer one


@lru_cache(maxsize=1)
def table(name: str, cut: int | None) -> data.Known:
    """A data set, or some rows and columns of it."""
    known = data.standard(name)
    if cut is None:
        return known
    X, y, X_test, y_test = known.split
    some = np.random.default_rng(0).permutation(len(y))[:cut]
    columns = slice(0, None, max(1, X.shape[1] // 16))
    split = data.Split(X[some][:, columns], y[some], X_test[:cut, columns], y_test[:cut])
    return known._replace(split=split)


def settings_of(name: str, method: str, size: Size) -> dict:
    """Our parameters on a data set."""
    parameters = SETTINGS[name] if method == NAME else {"n_estimators": 200}
    return parameters if size.own_rounds is None else {**parameters, "n_estimators": size.own_rounds}


def own(name: str, method: str, size: Size) -> dict:
    """Our error, seconds and learning curve."""
    split, origin = table(name, size.cut)
    parameters = settings_of(name, method, size)
    warm_up(split.X, split.y, **parameters)
    fits: list[tuple[float, MultiBoostClassifier]] = []
    while len(fits) < size.repeats and not (fits and fits[0][0] > SHORT):
        model = ours(**parameters)
        fits.append((seconds_of(lambda model=model: model.fit(split.X, split.y)), model))
    typical, model = sorted(fits, key=itemgetter(0))[len(fits) // 2]  # all have the same errors
    curve = own_curve(model, typical, split.X_test, split.y_test)
    return {
        "error": curve.errors[-1],
        "lowest": min(curve.errors),
        "seconds": [seconds for seconds, _ in fits],
        "rounds": curve.rounds[-1],
        "curve": curve._asdict(),
        "chosen": {"loss": model.loss_, "learning_rate": model.learning_rate_, "learner": repr(model.base_learner_)},
        "origin": origin,
        "table": {"rows": len(split.y), "columns": split.X.shape[1], "test_rows": len(split.y_test)},
    }


def expected(peer: type[Peer], split: data.Split, rounds: int) -> float:
    """Seconds that a fit may take, from one round and a few."""
    few = min(6, rounds)
    one, more = (seconds_of(lambda n=n: peer(n).fit(split.X, split.y)) for n in (1, few))
    return more + (rounds - few) * max(more - one, 0.0) / max(few - 1, 1)


def affordable(rounds: int, seconds: float, limit: float) -> int | None:
    """Rounds that fit into the limit: all, or fewer that stand in for them; None if these are too few to say anything.

    Parameters
    ----------
    rounds : int
        Rounds that are wanted.
    seconds : float
        What they may take.
    limit : float
    """
    if seconds <= limit:
        return rounds
    fewer = int(0.9 * rounds * limit / seconds)
    return fewer if fewer >= FEWEST else None


def one_peer(name: str, peer: type[Peer], rounds: int, size: Size, results: Results) -> dict:
    """A peer's error, seconds and learning curve after so many rounds, or as many as the limit allows."""
    split, _ = table(name, size.cut)
    peer(1).fit(split.X[:500], split.y[:500])  # imports
    allowed: int | None = rounds
    if not peer.stops:
        seconds = expected(peer, split, rounds)
        allowed = affordable(rounds, seconds, size.limit)
        if allowed is None:
            return {"skipped": f"about {seconds:.0f} s expected, {size.limit:.0f} s allowed", "limit": size.limit}
    model = peer(allowed, limit=size.limit)
    taken = seconds_of(lambda: model.fit(split.X, split.y))
    curve = peer_curve(model, taken, split.X_test, split.y_test, grid=size.rounds)
    made = model.made if peer.stops else allowed
    found = {
        "error": round(error_of(model.predict(split.X_test), split.y_test), 4),  # as exact as a curve
        "seconds": taken,
        "rounds": made,
        "made": model.made,
        "curve": curve._asdict(),
    }
    return found if made == rounds else found | {"stands_in_for": rounds, "limit": size.limit}


def beginning(name: str, peer: type[Peer], rounds: int, size: Size, results: Results) -> dict:
    """The same after the first rounds of the longest run."""
    longest = results.found(peer_key(name, peer, size.rounds[-1]))
    if longest is None or longest["rounds"] < rounds:
        made = "not made" if longest is None else f"{longest['rounds']} rounds"
        return {"skipped": f"the longest run is {made}"}
    curve = Curve(**longest["curve"]).until(rounds)
    return {
        "error": curve.errors[-1],
        "seconds": curve.seconds[-1],
        "rounds": rounds,
        "made": min(rounds, longest["made"]),
        "curve": curve._asdict(),
        "beginning_of": longest["rounds"],
    }


def best_run(runs: dict) -> tuple[type[Peer], int] | None:
    """The run, a peer and its rounds, with the lowest error, the quickest of several; None if there are none."""
    return min(runs, key=lambda run: (runs[run]["error"], runs[run]["seconds"]), default=None)


def duel(name: str, size: Size, results: Results) -> dict:
    """Our time to the best peer's error beside that peer's time: in turn, or after it where it was long."""
    every = {(peer, n): results.found(peer_key(name, peer, n)) for peer in RACERS.values() for n in size.rounds}
    runs = {run: found for run, found in every.items() if found is not None}
    own_found, best = results.found(own_key(name, NAME)), best_run(runs)
    if own_found is None or best is None:
        return {"skipped": "nothing to compare"}
    peer, theirs = best[0], runs[best]
    about = {"peer": peer.name, "peer_rounds": theirs["rounds"], "error": theirs["error"]}
    reached = Curve(**own_found["curve"]).first(theirs["error"])
    if reached is None:
        return {**about, "rounds": None, "lowest": own_found["lowest"]}
    split, _ = table(name, size.cut)
    parameters = {**settings_of(name, NAME, size), "n_estimators": reached[0]}
    actions = {"ours": lambda: ours(**parameters).fit(split.X, split.y)}
    quick = theirs["seconds"] < SHORT
    if quick or "beginning_of" in theirs:
        actions["peer"] = lambda: peer(theirs["rounds"]).fit(split.X, split.y)
    seconds = in_turn(actions, size.repeats if quick or "peer" not in actions else 1)
    peer_seconds = seconds.get("peer", [theirs["seconds"]])
    ratio = Times.of(np.divide(seconds["ours"], peer_seconds))
    found = {"rounds": reached[0], "seconds": seconds["ours"], "peer_seconds": peer_seconds, "ratio": ratio._asdict()}
    return about | found


def own_key(name: str, method: str) -> str:
    """Cell of ours."""
    return f"race/{name}/{method}"


def peer_key(name: str, peer: type[Peer], rounds: int) -> str:
    """Cell of a peer."""
    return f"race/{name}/{peer.name}/{rounds}"


def duel_key(name: str) -> str:
    """Cell of our time to the error of the best peer."""
    return f"race/{name}/{NAME} against the best"


def peer_cells(name: str, peer: type[Peer], size: Size) -> Iterator[Cell]:
    """A peer's runs; where shorter ones are beginnings of the longest, that one alone is made."""
    longest = size.rounds[-1]
    for rounds in (longest, *size.rounds[:-1]) if peer.nested else size.rounds:
        read = peer.nested and rounds < longest
        one = beginning if read else one_peer
        yield Cell(
            peer_key(name, peer, rounds),
            {"cut": size.cut, "threads": THREADS, "rounds": rounds, "version": version(peer.package)},
            lambda results, one=one, rounds=rounds: one(name, peer, rounds, size, results),
            ours=False,
            after=(peer_key(name, peer, longest),) if read else (),
            limit=None if read else size.limit,
        )


def cells(size: Size) -> Iterator[Cell]:
    """Ours first; then every peer; then ours again beside the best of them."""
    for name in data.STANDARD:
        common = {"cut": size.cut, "threads": THREADS, "repeats": size.repeats}
        for method in (NAME, DEFAULTS):
            given = {**common, "parameters": settings_of(name, method, size)}
            yield Cell(own_key(name, method), given, lambda _, n=name, m=method: own(n, m, size))
        peers = [cell for peer in RACERS.values() for cell in peer_cells(name, peer, size)]
        yield from peers
        given = {**common, "parameters": settings_of(name, NAME, size)}
        after = (own_key(name, NAME), *(cell.key for cell in peers))
        yield Cell(duel_key(name), given, lambda results, n=name: duel(n, size, results), after=after)
