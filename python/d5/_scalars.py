# SPDX-License-Identifier: Apache-2.0
"""The numbers of a training, as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from d5 import _d5


class Scalar(NamedTuple):
    name: str
    step: int
    value: float


class Scalars:
    """New samples of metrics; without metrics the network's scalar outputs, the loss among them."""

    def __init__(self, metrics: Sequence[_d5.TrainingMetric]) -> None:
        self.metrics = metrics
        self._seen = [0] * len(metrics)

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
