# SPDX-License-Identifier: Apache-2.0
"""The numbers of a training, as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from d5 import _d5
from d5._bases import Event, Metric
from d5._parameters import shown
from d5.errors import TypeError, ValueError


class Scalar(NamedTuple):
    name: str
    step: int
    value: float


class Scalars:
    """New samples of metrics; without metrics the network's scalar outputs, the loss among them. `who` is
    the class of the event that reads them. Raises: TypeError for another object."""

    def __init__(self, who: str, metrics: Sequence[_d5.TrainingMetric | Metric]) -> None:
        for metric in metrics:
            if not isinstance(metric, Metric):
                raise TypeError(f"{who}: a metric is {shown(metric)}; expected one of d5.training_metric(name), or a d5.Metric")
        self.who, self.metrics = who, metrics
        self._seen = [0] * len(metrics)

    def expect_before(self, event: Event, trainer: _d5.Trainer) -> None:
        """Call before training. Raises: ValueError for a metric that the trainer calls after `event`, or never:
        its samples would come a step late."""
        own = trainer._place(event)
        for metric in self.metrics:
            place = trainer._place(metric)
            if place is None or (own is not None and place > own):
                fault = "is no event of the trainer" if place is None else "comes after it in the events of the trainer"
                raise ValueError(f"{self.who}: the metric {metric.name} {fault}; add_event(metric) comes first")

    def of_batch(self, trainer: _d5.Trainer, outputs: Mapping[str, Any]) -> list[Scalar]:
        """Those since the last call, after a batch."""
        if self.metrics:
            return self.of_metrics(trainer)
        return [Scalar(name, trainer.step, float(value.numpy().reshape(()))) for name, value in outputs.items() if _is_scalar(value)]

    def of_metrics(self, trainer: _d5.Trainer) -> list[Scalar]:
        """Those since the last call, after a test or at the end."""
        found: list[Scalar] = []
        for place, metric in enumerate(self.metrics):
            samples = metric.samples
            found += [Scalar(metric.name, trainer.step, value) for value in samples[self._seen[place] :]]
            self._seen[place] = len(samples)
        return found


def _is_scalar(value: Any) -> bool:
    return tuple(value.shape) in ((), (1,)) and str(value.dtype).startswith("float")
