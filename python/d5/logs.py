# SPDX-License-Identifier: Apache-2.0
"""Training logs of other tools, written by their own packages.

    d5.train("mnist-lenet-quick", events=[d5.logs.TensorBoard("runs/first")])
    d5.train("mnist-lenet-quick", events=[d5.logs.WeightsAndBiases("my-project")])

Logged are the samples of the given metrics, which are events of the same training and come before
the log, or training is refused; without metrics the network's scalar outputs, the loss among them. On several ranks the first
one writes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from d5 import _d5
from d5._bases import Event, Metric
from d5._scalars import Scalar, Scalars
from d5.errors import TypeError, Unsupported

__all__ = ["TensorBoard", "WeightsAndBiases"]


class _Log(Event):
    """Hands the numbers of a training to `_write`."""

    def __init__(self, metrics: Sequence[_d5.TrainingMetric | Metric]) -> None:
        self._scalars = Scalars(f"d5.logs.{type(self).__name__}", metrics)

    def before_training(self, trainer: _d5.Trainer) -> None:
        self._scalars.expect_before(self, trainer)
        if _d5.world().rank == 0:
            self._open()

    def after_batch(self, trainer: _d5.Trainer, batch: _d5.Batch, outputs: dict[str, Any]) -> None:
        self._take(self._scalars.of_batch(trainer, outputs))

    def after_test(self, trainer: _d5.Trainer) -> None:
        self._take(self._scalars.of_metrics(trainer))

    def after_training(self, trainer: _d5.Trainer) -> None:
        self._take(self._scalars.of_metrics(trainer))
        if _d5.world().rank == 0:
            self._close()

    def _take(self, scalars: list[Scalar]) -> None:
        if scalars and _d5.world().rank == 0:
            self._write(scalars)

    def _open(self) -> None: ...
    def _close(self) -> None: ...
    def _write(self, scalars: list[Scalar]) -> None: ...


class TensorBoard(_Log):
    """Writes event files for TensorBoard.

        loss, accuracy = d5.training_metric("loss"), d5.training_metric("test_accuracy")
        for event in (loss, accuracy, d5.logs.TensorBoard("runs/first", loss, accuracy)):
            trainer.add_event(event)

    `target` is a folder, written by the package tensorboardX or by torch's with tensorboard, or a
    SummaryWriter of one's own, which is flushed and stays open. Raises: Unsupported without a package.
    """

    def __init__(self, target: str | os.PathLike[str] | Any, *metrics: _d5.TrainingMetric | Metric) -> None:
        super().__init__(metrics)
        self._folder = os.fspath(target) if isinstance(target, (str, os.PathLike)) else None
        if self._folder is None and not hasattr(target, "add_scalar"):
            raise TypeError(f"d5.logs.TensorBoard: target is {target!r}; expected a folder, or a SummaryWriter")
        self._make = _summary_writer() if self._folder is not None else None
        self._writer: Any = None if self._make else target

    def _open(self) -> None:
        if self._make:
            self._writer = self._make(self._folder)

    def _write(self, scalars: list[Scalar]) -> None:
        for name, step, value in scalars:
            self._writer.add_scalar(name, value, step)

    def _close(self) -> None:
        self._writer.flush()
        if self._make:
            self._writer.close()


class WeightsAndBiases(_Log):
    """Logs to a run of Weights & Biases.

        d5.logs.WeightsAndBiases("my-project", loss)               # offline: `wandb sync` uploads it
        d5.logs.WeightsAndBiases(wandb.init(project="mine"), loss)

    `target` is a project's name, for a run offline in the folder `wandb`, which ends with the
    training, or a run of one's own, which stays open. Raises: Unsupported without the package wandb.
    """

    def __init__(self, target: str | Any, *metrics: _d5.TrainingMetric | Metric) -> None:
        super().__init__(metrics)
        if not isinstance(target, str) and not hasattr(target, "log"):
            raise TypeError(f"d5.logs.WeightsAndBiases: target is {target!r}; expected a project's name, or a run of wandb")
        self._init = _wandb_init() if isinstance(target, str) else None
        self._project = target
        self._run: Any = None if self._init else target

    def _open(self) -> None:
        if self._init:
            self._run = self._init(project=self._project, mode="offline")

    def _write(self, scalars: list[Scalar]) -> None:
        by_step: dict[int, dict[str, float]] = {}
        for name, step, value in scalars:
            by_step.setdefault(step, {})[name] = value
        for step, values in by_step.items():
            self._run.log(values, step=step)

    def _close(self) -> None:
        if self._init:
            self._run.finish()


def _summary_writer() -> Any:
    try:
        from tensorboardX import SummaryWriter  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        try:
            from torch.utils.tensorboard import SummaryWriter  # type: ignore[attr-defined, no-redef, unused-ignore]
        except ImportError:
            raise Unsupported(
                "d5.logs.TensorBoard: no package here writes event files; pip install tensorboardX (or tensorboard, beside torch)"
            ) from None
    return SummaryWriter


def _wandb_init() -> Any:
    try:
        from wandb import init  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise Unsupported("d5.logs.WeightsAndBiases: the package wandb is not here; pip install wandb") from None
    return init
