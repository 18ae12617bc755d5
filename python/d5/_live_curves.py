# SPDX-License-Identifier: Apache-2.0
"""Progress and curves during training."""

from __future__ import annotations

import html
import sys
import time
from numbers import Real
from typing import Any

from d5 import _d5
from d5._bases import Event, Metric
from d5._notebook import image_of
from d5._parameters import shown
from d5._scalars import Scalar, Scalars
from d5.errors import TypeError

_MOST_POINTS = 400  # maximum number of points of a curve; more are averaged


class LiveCurves(Event):
    """Shows the progress of training and its curves while it runs: below the cell in a notebook, as a
    line on a terminal.

    Curves are those of `metrics`, which are events of the same training and come before this one, or
    training is refused; by default those of the network's scalar outputs: the loss. `every` is in seconds.

        loss, accuracy = d5.training_metric("loss"), d5.training_metric("test_accuracy")
        for event in (loss, accuracy, d5.LiveCurves(loss, accuracy)):
            trainer.add_event(event)

        d5.train("mnist-lenet-quick", events=[d5.LiveCurves()])
    """

    def __init__(self, *metrics: _d5.TrainingMetric | Metric, every: float = 1.0) -> None:
        given: Any = every
        if isinstance(given, (str, bool)) or not isinstance(given, Real) or not float(given) >= 0:
            raise TypeError(f"d5.LiveCurves: every is {shown(every)}, expected seconds, of 0 or more")
        self.metrics, self.every = metrics, every
        self.curves: dict[str, list[tuple[float, float]]] = {}  # value by step
        self.progress = ""
        self._scalars = Scalars("d5.LiveCurves", metrics)
        self._next = 0.0
        self._shown: Any = None

    def before_training(self, trainer: _d5.Trainer) -> None:
        self._scalars.expect_before(self, trainer)
        self._next = 0.0
        self._shown = _display(self)

    def after_batch(self, trainer: _d5.Trainer, batch: _d5.Batch, outputs: dict[str, Any]) -> None:
        self._take(self._scalars.of_batch(trainer, outputs))
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.every
            self._show(trainer)

    def after_test(self, trainer: _d5.Trainer) -> None:
        self._take(self._scalars.of_metrics(trainer))

    def after_training(self, trainer: _d5.Trainer) -> None:
        self._take(self._scalars.of_metrics(trainer))
        self._show(trainer)
        if self._shown is None and sys.stderr.isatty():
            print(file=sys.stderr)

    def _take(self, scalars: list[Scalar]) -> None:
        for name, step, value in scalars:
            self.curves.setdefault(name, []).append((step, value))

    def _show(self, trainer: _d5.Trainer) -> None:
        last = (f"{name} {curve[-1][1]:.4g}" for name, curve in self.curves.items() if curve)
        epoch = min(trainer.epoch + 1, trainer.epochs)
        self.progress = ", ".join([f"epoch {epoch} of {trainer.epochs}", f"step {trainer.step}", *last])
        if self._shown is not None:
            self._shown.update(self)
        elif sys.stderr.isatty():
            print(f"\r\033[K{self.progress}", end="", file=sys.stderr, flush=True)

    def plots(self) -> list[_d5.Plot]:
        """A plot per curve, over steps."""
        return [
            _d5.Plot({name: _thinned(curve)}, x=("step", "", "whole"), y=(name, "", "linear"), name=name)
            for name, curve in self.curves.items()
            if curve
        ]

    def _repr_html_(self) -> str:
        pictures = "".join(image_of(plot.svg(420)) for plot in self.plots())
        return f"<p>{html.escape(self.progress)}</p>{pictures}"


def _thinned(curve: list[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(curve) // _MOST_POINTS)
    parts = (curve[i : i + size] for i in range(0, len(curve), size))
    return [(sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)) for part in parts]


def _display(thing: Any) -> Any:
    """The updatable display of a notebook in which `thing` is shown; None elsewhere."""
    interactive = sys.modules.get("IPython")
    if interactive is None or interactive.get_ipython() is None or not hasattr(interactive.get_ipython(), "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    return display(thing, display_id=True)
