"""The page of the full benchmark, from its results, however many of them there are: docs/notes/benchmarks.md."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

from multiboost.disk import whole_file

from . import data, picture, prediction, scaling, threads
from .curve import Curve
from .full import RESULTS
from .markdown import bold_lowest, run_table, short, spread, table
from .measure import Times
from .ours import DEFAULTS, NAME
from .peers import PEERS, RACERS
from .race import best_run, duel_key, own_key, peer_key

NAME_OF_PAGE = "benchmarks.md"
PARTS = ("race", "core", "scaling", "prediction", "memory", "large", "startup", "threads")
ALL_SETS, MOST_SETS, MOST = (
    0.3,
    0.1,
    4,
)  # asked for: time to the best peer's error over its time, on all and on most sets
OVER_CATBOOST, OVER_LIGHTGBM = 1.0, 5.0  # asked for: rows per second over theirs
MARKS = {None: "", True: "yes", False: "**no**"}


class Found:
    """Cells of a full run, as the page needs them.

    Parameters
    ----------
    results : dict
        Content of the JSON file; any cells may be missing.
    """

    def __init__(self, results: dict):
        self.runs = results["runs"]
        self.cells = results["cells"]
        self.failed = results["failed"]

    def __call__(self, key: str) -> dict | None:
        """What a cell found; None if it is missing or was skipped."""
        found = self.any(key)
        return None if found is None or "skipped" in found else found

    def any(self, key: str) -> dict | None:
        """The same, also if it was skipped."""
        cell = self.cells.get(key)
        return None if cell is None else cell["found"]

    def part(self, name: str) -> dict[str, dict]:
        """All that was found in a part."""
        return {key: cell["found"] for key, cell in self.cells.items() if key.startswith(f"{name}/")}

    def commits(self) -> list[str]:
        """Commits at which cells were made."""
        made = {self.runs[cell["run"]]["machine"]["commit"] or "unknown" for cell in self.cells.values()}
        return sorted(commit[:7] for commit in made)


class Peers:
    """Runs of the peers on one data set: (peer, rounds) to what was found, without those that were skipped."""

    def __init__(self, found: Found, name: str):
        ends = {key.rsplit("/", 1)[1] for key in found.part(f"race/{name}")}
        self.rounds = sorted(int(end) for end in ends if end.isdigit())
        self.grid = [(peer, n) for peer in RACERS.values() for n in self.rounds]
        every = {(peer, n): found(peer_key(name, peer, n)) for peer, n in self.grid}
        self.done = {run: what for run, what in every.items() if what is not None}

    def best(self):
        """The run with the lowest error, the quickest of several; None if there are none."""
        return best_run(self.done)

    def longest(self) -> dict[str, Curve]:
        """The learning curve of every peer's longest run."""
        curves = {}
        for (peer, _), what in sorted(self.done.items(), key=lambda item: item[1]["rounds"]):
            curves[peer.name] = Curve(**what["curve"])
        return {peer.name: curves[peer.name] for peer in RACERS.values() if peer.name in curves}


class Row:
    """A line of the summary: what was asked for and what was reached."""

    def __init__(self, name: str, asked: str, reached: str, ok: bool | None, note: str = ""):
        self.cells = [name, asked, reached, MARKS[ok], note]


def row_of(figure: dict) -> Row:
    """A line from a figure."""
    unit = f" {figure['unit']}".rstrip()
    asked = "" if figure["asked"] is None else f"at most {figure['asked']:g}{unit}"
    reached = "none" if figure["reached"] is None else short(figure["reached"], 3) + unit
    return Row(figure["name"], asked, reached, figure["ok"], figure["note"])


def race_rows(found: Found) -> list[Row]:
    """Lines of the race."""
    rows, ratios = [], {}
    for name in data.STANDARD:
        own, peers = found(own_key(name, NAME)), Peers(found, name)
        best = peers.best()
        if own is None or best is None:
            continue
        error = peers.done[best]["error"]
        note = f"{best[0].name}, {peers.done[best]['rounds']} rounds"
        text = f"{own['error']:.2f} %"
        rows.append(Row(f"{name}, final test error", f"at most {error:.2f} %", text, own["error"] <= error, note))
        against = found(duel_key(name))
        if against is not None and against["error"] == error:
            ratio = against.get("ratio")
            ratios[name] = None if ratio is None else ratio["median"]
            ok = ratio is not None and ratio["median"] <= ALL_SETS
            reached = "not reached" if ratio is None else spread(ratio)
            what = f"{name}, time to the best peer's error over its time"
            rows.append(Row(what, f"at most {ALL_SETS:g}", reached, ok, note))
    if ratios:
        below = sum(ratio is not None and ratio <= MOST_SETS for ratio in ratios.values())
        what = f"sets on which that is at most {MOST_SETS:g}"
        rows.append(Row(what, f"at least {MOST} of 6", f"{below} of {len(ratios)}", below >= MOST))
    return rows


def prediction_rows(found: Found) -> list[Row]:
    """Lines of prediction: rows per second over those of a peer, and one row."""
    rows = []
    for name in prediction.SETS:
        for peer, asked in (("CatBoost", OVER_CATBOOST), ("LightGBM", OVER_LIGHTGBM)):
            pair = found(f"prediction/{name}/{peer}")
            if pair is not None:
                ratio = pair["equal"]["ratio"]
                what = f"{name}, rows per second at equal error over {peer}'s"
                rows.append(Row(what, f"at least {asked:g}", spread(ratio), ratio["median"] >= asked))
    for what, limit in prediction.ASKED.items():
        one = found(f"prediction/one row/{NAME}, {what}")
        if one is not None:
            compiled = one.get("compiled")
            reached = "no compiled predictor" if compiled is None else f"{spread(compiled)} µs"
            ok = compiled is not None and compiled["median"] < limit
            rows.append(Row(f"one row, compiled, {what}", f"below {limit:g} µs", reached, ok))
    return rows


def exponents(found: Found, axis: str, learner: str) -> dict | None:
    """Exponents of the seconds of a round, or of a whole fit where rounds vary, along an axis."""
    prefix = f"scaling/{learner}/{axis}"
    points = {int(key.rsplit("/", 1)[1]): what for key, what in found.part(prefix).items()}
    values = sorted(points)
    if len(values) < 2:
        return None
    figures = {}
    for what in ("seconds",) if axis == "rounds" else ("round", "seconds"):
        seconds = [points[value][what]["median"] for value in values]
        last = scaling.upper(values, seconds)
        high = scaling.exponent(*last) if len(last[0]) > 1 else None
        figures[what] = {"all": scaling.exponent(values, seconds), "upper": high, "ends": (seconds[0], seconds[-1])}
    return {"values": values, **figures}


def growths(found: Found) -> Iterator[tuple[str, str, dict]]:
    """Learner, axis and exponents, where they were measured."""
    for learner in scaling.LEARNERS:
        for axis in scaling.AXES:
            figures = exponents(found, axis, learner)
            if figures is not None:
                yield learner, axis, figures


def scaling_rows(found: Found) -> list[Row]:
    """Lines of scaling: nowhere faster than linear in the last decade."""
    rows = []
    for learner, axis, figures in growths(found):
        main = figures["seconds" if axis == "rounds" else "round"]
        reached = main["all"] if main["upper"] is None else main["upper"]
        text = f"power {reached:.2f} of {axis}"
        rows.append(Row(f"{learner}, growth with {axis}", "at most 1", text, reached <= 1 + scaling.TOLERANCE))
    return rows


def summary(found: Found) -> str:
    """What was asked for and what was reached."""
    figures = [figure for part in PARTS for what in found.part(part).values() for figure in what.get("figures", [])]
    rows = race_rows(found) + prediction_rows(found) + [row_of(figure) for figure in figures] + scaling_rows(found)
    head = ["", "asked for", "reached", "met", ""]
    return f"""## Asked for and reached

Ratios are medians of repeats in turn, with the lowest and highest in brackets; one number where there was one repeat.

{table(head, [row.cells for row in rows])}"""


def introduction(found: Found) -> str:
    """What was measured where."""
    last = found.runs[-1]
    commits = ", ".join(found.commits())
    return f"""# Benchmarks

`make bench-full` measures, `make bench-report` makes this page from `benchmarks/results/full.json`, which has all
numbers. The file has {len(found.cells)} cells from {len({cell["run"] for cell in found.cells.values()})} runs, at
commit {commits}; the table is about the last run.

{run_table(last["machine"], last["threads"], last["load_before"])}

All packages have the same table and the same number of threads. Peers are at their defaults but for the number of
rounds; AdaBoost is scikit-learn's, which has one thread, once with its default stumps and once with decision trees of
depth 10. Times are wall times of `fit` after a short fit that imports and compiles. Where ratios have a spread,
what takes less than 20 s is repeated, ours and the peer's in turn, so that a slow moment of the machine meets both;
longer fits of peers are made once. A fit of a peer that takes longer than a limit is ended there; where a package
cannot be told to, it has as many rounds as are expected to fit into the limit, or is left out; both are said."""


def race_table(found: Found, name: str, peers: Peers) -> str:
    """All runs on a data set."""
    own = {method: what for method in (NAME, DEFAULTS) if (what := found(own_key(name, method))) is not None}
    rows, errors = [], []
    for method, what in own.items():
        seconds = spread(Times.of(what["seconds"])._asdict())
        rows.append([method, str(what["rounds"]), f"{what['error']:.2f}", seconds, ""])
        errors.append(what["error"])
    for peer, rounds in peers.grid:
        what = found.any(peer_key(name, peer, rounds))
        if what is None:
            continue
        if "skipped" in what:
            rows.append([peer.name, str(rounds), "", f"skipped, {what['skipped']}", ""])
            errors.append(None)
            continue
        reached = Curve(**own[NAME]["curve"]).first(what["error"]) if NAME in own else None
        ratio = short(reached[1] / what["seconds"], 2) if reached else "never" if NAME in own else ""
        made = str(rounds) if what["rounds"] == rounds else f"{what['rounds']}, for {rounds}"
        made = made if what["made"] == what["rounds"] else f"{what['made']}, stopped"
        rows.append([peer.name, made, f"{what['error']:.2f}", short(what["seconds"], 3), ratio])
        errors.append(what["error"])
    for row, text in zip(rows, bold_lowest(errors, [row[2] for row in rows]), strict=True):
        row[2] = text
    return table(["", "rounds", "test error, %", "fit, s", "our time to its error / its time"], rows)


def race(found: Found, pictures: Path) -> str:
    """Tables and pictures of the race."""
    text = """## Race

The last column is our time to the error of that line, as read off our learning curve (its first round that is as
good), over that line's seconds; the two may be of different runs, hours apart, on a machine that is not always as
fast. For the best peer of each set it was also timed, see the summary: fits of ours with just as many rounds as it
takes, and fits of that peer. With all peers but CatBoost a shorter fit is the beginning of a
longer one, so that the longest was made and the others are read off it; LightGBM, XGBoost and CatBoost tell after every
round how long it took, scikit-learn's seconds are in proportion to the rounds. Pictures have test error against
training seconds: ours from the seconds of each round, with all that comes before the first; a peer's from its longest
run."""
    parts = [text]
    for name in data.STANDARD:
        peers = Peers(found, name)
        own = {method: what for method in (NAME, DEFAULTS) if (what := found(own_key(name, method))) is not None}
        if not own and not peers.done:
            parts.append(f"### {name}\n\nNot measured.")
            continue
        about = ""
        if own:
            first = next(iter(own.values()))
            sizes = first["table"]
            about = (
                f"{sizes['rows']:,} training rows, {sizes['columns']} columns, {sizes['test_rows']:,} test rows; from: "
                f"{first['origin']}. "
            )
        if NAME in own:
            given = found.cells[own_key(name, NAME)]["settings"]["parameters"]
            about += "Our settings: " + ", ".join(f"`{key}={value!r}`" for key, value in given.items()) + ". "
        if DEFAULTS in own:
            chosen = own[DEFAULTS]["chosen"]
            about += f"The defaults chose {chosen['loss']} loss and `{chosen['learner']}`."
        curves = {method: Curve(**what["curve"]).thinned(200) for method, what in own.items()} | peers.longest()
        file = picture.race(name, curves, set(own), pictures)
        image = f"![Test error against training seconds on {name}]({pictures.name}/{file})"
        parts += [f"### {name}\n\n{about.strip()}", race_table(found, name, peers), image]
    return "\n\n".join(parts)


def scaling_part(found: Found) -> str:
    """Exponents."""
    rows = []
    for learner, axis, figures in growths(found):
        values = figures["values"]
        for what, title in (("round", "a round"), ("seconds", "a fit")):
            if what in figures:
                one = figures[what]
                upper = "" if one["upper"] is None else f"{one['upper']:.2f}"
                low, high = (short(1000 * seconds, 3) for seconds in one["ends"])
                rows.append(
                    [f"{learner}, {axis}", f"{values[0]:,} to {values[-1]:,}", title, low, high]
                    + [f"{one['all']:.2f}", upper]
                )
    base = ", ".join(f"{value:,} {axis}" for axis, value in scaling.BASE.items())
    head = ["", "range", "seconds of", "first, ms", "last, ms", "power, all", "power, last decade"]
    return f"""## Growth

Generated tables of normal columns, classes by the highest of noisy linear functions. One size is varied, the others
stay at {base}. The power is the slope of a straight line through the logarithms. Linear growth is 1; the
summary allows {1 + scaling.TOLERANCE:g}, as times are noisy. Seconds of a round are without what comes before the first
round; those of a fit are with it.

{table(head, rows)}"""


def prediction_part(found: Found) -> str:
    """Rows per second, and single rows."""
    parts = ["## Prediction"]
    for what, text in (
        (
            "equal",
            "At equal test error: the lowest error that both reach, and the fewest rounds of each that reach it.",
        ),
        ("standard", "100 rounds of both, whatever their errors."),
    ):
        rows = []
        for name in prediction.SETS:
            for peer in RACERS:
                pair = found(f"prediction/{name}/{peer}")
                if pair is None:
                    continue
                one = pair[what]
                speed = [short(times["median"], 3) for times in one["rows_per_second"]]
                sides = [f"{e:.2f} %, {t} rounds" for e, t in zip(one["errors"], one["rounds"], strict=True)]
                rows.append([f"{name}, {peer}", *sides, *speed, spread(one["ratio"])])
        head = ["", "ours", "theirs", "our rows/s", "their rows/s", "ours / theirs"]
        if rows:
            parts += [text, table(head, rows)]
    rows = []
    for method in (*(f"{NAME}, {what}" for what in prediction.LEARNERS), *PEERS):
        one = found(f"prediction/one row/{method}")
        if one is not None:
            rows += [[f"{method}, {way}", spread(times)] for way, times in one.items()]
    if rows:
        data_set = prediction.ONE_ROW_SET
        text = f"One row of {data_set}: median of the calls, with the middle nine tenths; peers have 100 rounds."
        parts += [text, table(["", "µs"], rows)]
    return "\n\n".join(parts)


def memory_part(found: Found) -> str:
    """Peak memory."""
    rows = []
    for key, what in found.part("memory").items():
        given = found.cells[key]["settings"]["parameters"]
        rounds = given.get("rounds", given.get("n_estimators"))
        if "skipped" in what:
            rows.append([key.partition("/")[2], str(rounds), what["skipped"], ""])
        else:
            rows.append([key.partition("/")[2], str(rounds), short(what["bytes"] / 1e6, 3), short(what["seconds"], 3)])
    return f"""## Memory

mnist, each package in a fresh process: peak memory of `fit` above what was there before it, that is the loaded table,
imports and kernels.

{table(["", "rounds", "MB", "fit, s"], rows)}"""


def threads_part(found: Found) -> str:
    """One thread against two."""
    rows = []
    for name in threads.SETS:
        for method in threads.NAMES:
            what = found(threads.key(name, method))
            if what is not None:
                seconds = [spread(what["seconds"][n]) for n in ("1", "2")]
                rows.append([f"{name}, {method}", *seconds, spread(what["gain"])])
    return f"""## Threads

One and two threads in turn. Rows may be of different machines: the last column can be compared, seconds cannot.

{table(["", "one thread, s", "two threads, s", "one / two"], rows)}"""


def figures_part(title: str):
    """A part that is nothing but figures."""

    def part(found: Found, name: str) -> str:
        figures = [figure for what in found.part(name).values() for figure in what["figures"]]
        rows = [
            [f["name"], "" if f["reached"] is None else f"{short(f['reached'], 3)} {f['unit']}", f["note"]]
            for f in figures
        ]
        return f"## {title}\n\n{table(['', 'reached', ''], rows)}"

    return part


TITLES = {"core": "Rounds", "large": "A large table", "startup": "Start"}
SECTIONS = {"scaling": scaling_part, "prediction": prediction_part, "memory": memory_part, "threads": threads_part}


def seeds_table(path: Path) -> str | None:
    """The section about the seeds' Table 3.1, where there is a module that makes it and a file to make it from."""
    if not path.exists():
        return None
    try:
        module = importlib.import_module("benchmarks.table31")
    except ModuleNotFoundError:
        return None
    return module.section(json.loads(path.read_text(encoding="utf-8")))


def page(results: dict, pictures: Path, seeds: Path) -> str:
    """The whole page; its pictures are written."""
    found = Found(results)
    parts = [introduction(found), summary(found)]
    missing = [name for name in PARTS if not found.part(name)]
    for name in PARTS:
        if name in missing:
            continue
        if name == "race":
            parts.append(race(found, pictures))
        elif name in TITLES:
            parts.append(figures_part(TITLES[name])(found, name))
        else:
            parts.append(SECTIONS[name](found))
    table31 = seeds_table(seeds)
    if table31 is not None:
        parts.append(table31.strip())
    notes = [f"- the part `{name}`" for name in missing]
    notes += [f"- {key}: {why}" for key, why in found.failed.items()]
    notes += [] if table31 is not None else ["- the seeds' Table 3.1"]
    if notes:
        parts.append("## Not measured\n\n" + "\n".join(notes))
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.full_page", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON file of the full benchmark")
    parser.add_argument("--docs", type=Path, default=data.PROJECT / "docs" / "notes", help="folder of the page")
    given = parser.parse_args(arguments)
    if not given.results.exists():
        parser.error(f"{given.results} is not there; make bench-full writes it")
    results = json.loads(given.results.read_text(encoding="utf-8"))
    text = page(results, given.docs / "pictures", given.results.with_name("table31.json"))
    given.docs.mkdir(parents=True, exist_ok=True)
    with whole_file(given.docs / NAME_OF_PAGE) as file:
        file.write(text.encode())
    print(f"{given.docs / NAME_OF_PAGE} written")


if __name__ == "__main__":
    main()
