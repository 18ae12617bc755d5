# SPDX-License-Identifier: Apache-2.0
"""d5's plots in matplotlib, if it is installed."""

from __future__ import annotations

from typing import Any, Sequence

from d5 import _d5
from d5._former import takes_former_keywords
from d5._nearest import knows_its_keywords
from d5._parameters import shown
from d5.errors import NotFound, TypeError, ValueError


def plot(measurements: Sequence[_d5.Measurement], name: str = "", ax: Any = None) -> Any:
    """Draws the plot of that name ("curve-loss", as `d5.plots` names it), by default the first.

    It is drawn on matplotlib's axes `ax`, or new ones, which are returned; without matplotlib returns
    the `d5.Plot`, which a notebook shows as well. Raises: NotFound, ValueError if there is none.
    """
    plots = _d5.plots(list(measurements))
    if not plots:
        raise ValueError("these measurements have no numbers to draw")
    chosen = [one for one in plots if name in ("", one.name)]
    if not chosen:
        raise NotFound(f"no plot is named '{name}'; there are {', '.join(one.name for one in plots)}")
    return draw(chosen[0], ax)


@takes_former_keywords
@knows_its_keywords
def draw(picture: _d5.Plot, ax: Any = None) -> Any:
    """Draws on matplotlib's axes `ax`, new ones for None, which are returned; returns the plot itself
    without matplotlib.

        d5.draw(d5.Plot({"adam": [(1, 0.9), (2, 0.5)]}))
    """
    if ax is not None and not hasattr(ax, "set_title"):
        raise TypeError(f"ax is {shown(ax)}, expected axes of matplotlib: pyplot.subplots()[1]")
    try:
        from matplotlib import pyplot, ticker  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return picture
    axes = pyplot.subplots(layout="constrained")[1] if ax is None else ax
    named: set[int] = set()
    for mark in picture.marks:
        _draw_mark(axes, mark, picture, named)
    axes.set_title(picture.title)
    for (label, unit, scale), axis in ((picture.x, axes.xaxis), (picture.y, axes.yaxis)):
        if axis is axes.yaxis and picture.rows:
            places = [row + 0.5 for row in range(len(picture.rows))]
            axes.set_yticks(places, [row for row, _ in picture.rows])
            axes.set_ylim(len(picture.rows), 0)
            continue
        axis.set_label_text(label)
        if scale == "logarithmic":
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
        elif scale == "whole":
            axis.set_major_locator(ticker.MaxNLocator(integer=True))
        if unit not in ("", "1"):
            axis.set_major_formatter(ticker.EngFormatter(unit))
    if named:
        axes.legend()
    return axes


def _draw_mark(axes: Any, mark: _d5.PlotMark, picture: _d5.Plot, named: set[int]) -> None:
    color = f"C{mark.series % 10}"
    name = picture.series[mark.series] if mark.series < len(picture.series) else ""
    style: dict[str, Any] = {"color": color}
    if name and mark.series not in named and mark.shape in ("line", "dots", "box", "disc"):
        named.add(mark.series)
        style["label"] = name
    xs, ys = [x for x, _ in mark.points], [y for _, y in mark.points]
    if mark.shape == "line":
        axes.plot(xs, ys, **style)
    elif mark.shape == "faint_line":
        axes.plot(xs, ys, color=color, alpha=0.3, linewidth=0.8)
    elif mark.shape == "dots":
        axes.plot(xs, ys, "o", markersize=4, **style)
    elif mark.shape == "disc":
        axes.scatter(xs, ys, s=900 * mark.weight, alpha=0.4, **style)
    elif mark.shape == "interval":
        for i in range(0, len(mark.points) - 1, 2):
            axes.plot(xs[i : i + 2], ys[i : i + 2], marker="|" if ys[i] == ys[i + 1] else "_", color=color)
    elif mark.shape == "box":
        for i in range(0, len(mark.points) - 1, 2):
            low, height = min(ys[i : i + 2]), abs(ys[i + 1] - ys[i])
            axes.barh(low + height / 2, xs[i + 1] - xs[i], height, left=xs[i], alpha=0.5 * mark.weight, **style)
            style.pop("label", None)
    elif mark.shape == "rule" and mark.points:
        (axes.axvline if picture.rows else axes.axhline)(xs[0] if picture.rows else ys[0], color="0.6", linewidth=0.8)
    if mark.label and mark.points:
        axes.annotate(mark.label, mark.points[-1], fontsize="small")
