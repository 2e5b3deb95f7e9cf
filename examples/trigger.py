"""From a ROOT file to a trigger in C: read events, train, choose a threshold for a rate, export, compile, compare.

    python examples/trigger.py

It writes its own events into a temporary folder.  Needs ``pip install "multiboost[hep]"`` and a C compiler.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import uproot

from multiboost import MultiBoostClassifier
from multiboost.export import latency, to_c
from multiboost.files import read_file
from multiboost.physics import TriggerThreshold

MAIN = """#include <stdio.h>
#include "trigger.h"

int main(void)
{
    double x[TRIGGER_COLUMNS], scores[TRIGGER_LABELS];
    long accepted = 0, n = 0;
    while (fread(x, sizeof x, 1, stdin) == 1) {
        trigger_scores(x, scores);
        accepted += scores[0] > %s;
        n++;
    }
    printf("%%ld of %%ld\\n", accepted, n);
    return 0;
}
"""


def write_events(path: Path, n: int = 40_000) -> None:
    """Signal has more energy and is narrower."""
    rng = np.random.default_rng(0)
    is_signal = rng.random(n) < 0.3
    columns = {
        "energy": rng.normal(30 + 15 * is_signal, 8),
        "width": rng.normal(2.0 - 0.8 * is_signal, 0.5),
        "eta": rng.normal(size=n),
        "is_signal": is_signal,
    }
    with uproot.recreate(path) as file:
        file.mktree("events", {name: values.dtype for name, values in columns.items()}).extend(columns)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "events.root")
        table = read_file(folder / "events.root:events", where="energy > 5 && abs(eta) < 2.5").table
        X = np.stack([table.column(c).to_numpy() for c in ("energy", "width", "eta")], axis=1)
        y = table.column("is_signal").to_numpy()
        half = len(y) // 2
        clf = MultiBoostClassifier("tree:4", n_estimators=100, loss="logistic").fit(X[:half], y[:half])
        scores, signal = clf.decision_function(X[half:]), y[half:]
        chosen = TriggerThreshold(max_rate=0.01).choose(scores[~signal], scores[signal])
        print(f"efficiency {chosen.efficiency:.3f} at a rate of at most 0.01 (95 %), {chosen.rate:.4f} seen")

        source = to_c(clf, "trigger")
        source.write(folder / "trigger.c")
        (folder / "main.c").write_text(MAIN % chosen.threshold.hex())
        subprocess.run(["cc", "-O2", "-o", "trigger", "main.c", "trigger.c"], cwd=folder, check=True)
        told = subprocess.run([folder / "trigger"], input=X[half:].tobytes(), capture_output=True, check=True).stdout
        print(f"C accepts {told.decode().strip()}, Python {(scores > chosen.threshold).sum()}")
        measured = latency(source, X[half : half + 1000])
        print(f"{measured.mean:.0f} ns for a decision, {measured.worst:.0f} ns for the slowest row")


if __name__ == "__main__":
    main()
