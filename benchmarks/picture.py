"""Pictures of benchmark results, as SVG."""

from __future__ import annotations

from pathlib import Path

STYLES = ("-", "--", ":")


def name_of(data_set: str) -> str:
    """File of a learning curve."""
    return f"nominal-{data_set.replace('.', '-').replace(', ', '-')}.svg"


def curve(data_set: str, found: dict, folder: Path) -> None:
    """Test error against rounds, one line per method, and the lowest error of one-hot columns."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "multiboost"  # the same results give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for (name, method), style in zip(found["methods"].items(), STYLES, strict=False):
        axes.plot(found["rounds"], method["curve"], style, label=name)
    level = found["levels"][-1]
    axes.axhline(level, color="grey", linewidth=0.8, label=f"lowest of one-hot columns, {level:.2f} %")
    axes.set(xscale="log", xlabel="rounds", ylabel="test error, %", title=f"{data_set}, discrete AdaBoost.MH")
    axes.set_ylim(bottom=0)
    axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name_of(data_set), metadata={"Date": None})
    pyplot.close(figure)
