"""The core: milliseconds of a round."""

from __future__ import annotations

from collections.abc import Iterator

from . import data
from .measure import Times, error_of, figure, interleaved, seconds_of
from .memory import memory_of_fit
from .ours import DISCRETE, NAME, REAL, ours, round_seconds, warm_up


def a_round(name: str, model, asked: float | None, note: str = "") -> dict:
    """Milliseconds of a round of a fitted model: median, lowest and highest of all of them."""
    times = Times.of(1000 * round_seconds(model))
    text = f"{times.low:.3g} to {times.high:.3g} in {times.repeats} rounds{note}"
    return figure(name, times.median, asked, "ms", text, times=times._asdict())


def discrete(letter: data.Split, mnist: data.Split, rounds: int = 100) -> Iterator[dict]:
    """Exhaustive search with discrete votes."""
    for learner, asked in (("stump", 0.15), ("tree:9", 1.0)):
        warm_up(letter.X, letter.y, base_learner=learner, **DISCRETE)
        fit = {"fit": lambda learner=learner: ours(learner, rounds, **DISCRETE).fit(letter.X, letter.y)}
        times = interleaved(fit, 5)["fit"]
        name = f"letter, discrete {learner}, {rounds} rounds"
        yield figure(name, times.median, asked, "s", str(times), times=times._asdict())
    warm_up(mnist.X, mnist.y, base_learner="stump", **DISCRETE)
    model = ours("stump", min(rounds, 50), **DISCRETE).fit(mnist.X, mnist.y)
    yield a_round("mnist, discrete stump, one round", model, 20)


def real(split: data.Split, rounds: int = 100) -> Iterator[dict]:
    """Real trees of 50 leaves on MNIST."""
    warm_up(split.X, split.y, base_learner="tree:50", **REAL)
    model = ours("tree:50", rounds, **REAL)
    seconds = seconds_of(lambda: model.fit(split.X, split.y))
    yield a_round("mnist, real tree:50, one round", model, 120, f"; fit {seconds:.3g} s in all")
    error = error_of(model.predict(split.X_test), split.y_test)
    yield figure(f"mnist, real tree:50, {rounds} rounds, test error", error, 1.7, "%")
    parameters = {"base_learner": "tree:50", "n_estimators": rounds, **REAL}
    found = memory_of_fit(split.X, split.y, NAME, parameters)
    note = f"the input has {found['input_bytes'] / 1e6:.0f} MB"
    yield figure(
        f"mnist, real tree:50, {rounds} rounds, peak memory above the input", found["bytes"] / 1e6, 400, "MB", note
    )
