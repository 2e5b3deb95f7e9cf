"""Pictures of benchmark results, as SVG."""

from __future__ import annotations

from pathlib import Path

from .curve import Curve

STYLES = ("-", "--", ":")


def name_of(data_set: str) -> str:
    """File of a learning curve."""
    return f"nominal-{data_set.replace('.', '-').replace(', ', '-')}.svg"


def _axes(width: float = 7):
    """An empty picture; the same results give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "multiboost"
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, 4), layout="constrained")


def _save(figure, path: Path) -> None:
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def curve(data_set: str, found: dict, folder: Path) -> None:
    """Test error against rounds, one line per method, and the lowest error of one-hot columns."""
    figure, axes = _axes()
    for (name, method), style in zip(found["methods"].items(), STYLES, strict=False):
        axes.plot(found["rounds"], method["curve"], style, label=name)
    level = found["levels"][-1]
    axes.axhline(level, color="grey", linewidth=0.8, label=f"lowest of one-hot columns, {level:.2f} %")
    axes.set(xscale="log", xlabel="rounds", ylabel="test error, %", title=f"{data_set}, discrete AdaBoost.MH")
    axes.set_ylim(bottom=0)
    axes.legend()
    _save(figure, folder / name_of(data_set))


def race(data_set: str, curves: dict[str, Curve], bold: set[str], folder: Path) -> str:
    """Test error against training seconds, one line per method, those in ``bold`` thick and black; the file's name."""
    figure, axes = _axes(9)
    thick = iter(STYLES)
    for name, found in curves.items():
        style = {"color": "black", "linewidth": 2.0, "linestyle": next(thick)} if name in bold else {"linewidth": 1.0}
        axes.plot(found.seconds, found.errors, label=name, **style)
    axes.set(xscale="log", yscale="log", xlabel="training seconds", ylabel="test error, %", title=data_set)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "235" else "")
    axes.grid(which="both", linewidth=0.3)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    name = f"race-{data_set}.svg"
    _save(figure, folder / name)
    return name
