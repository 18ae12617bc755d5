# SPDX-License-Identifier: Apache-2.0
"""Base classes for training on several ranks."""

from __future__ import annotations

from typing import Any

from d5._bases import Optimizer
from d5._d5 import (
    AllReduce,
    Batch,
    BoundDistributedOptimizer,
    BoundOptimizer,
    BoundThreeStepOptimizer,
    Communicator,
    ExchangeStep,
    GradientBucket,
    Network,
    Tensor,
)
from d5._nearest import Hooked


class GradientExchange(Hooked):
    """Base class of gradient exchanges in Python, which turn each rank's gradients into those of all,
    bucket by bucket during backpropagation.

        @d5.register("in-halves")
        class InHalves(d5.GradientExchange):
            def start(self, bucket, step):
                data = bucket.data
                self.ranks.scale_local(data, step.weight)
                return self.all_reduce.start(self.ranks, data)

        d5.distributed_optimizer("consistent_decentralized", optimizer, exchange="in-halves")

    `ranks` and `all_reduce` are those of the scheme.
    """

    ranks: Communicator
    all_reduce: AllReduce

    def attach(self, optimizer: BoundOptimizer) -> None:
        """Called once, before everything else, with the optimizer of the gradients."""

    def start(self, bucket: GradientBucket, step: ExchangeStep) -> Any:
        """Turns `bucket.data` into the sum over ranks of `step.weight` times it, with the same bits on
        every rank. Called on all ranks in the same order. Returns None if it is done, or an object
        with `wait()` and `done()`."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint: everything that is carried from step to step."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint."""


class GradientCompressor(Hooked):
    """Base class of gradient compressors in Python, which sum gradients over ranks in fewer bytes:
    every rank gets the messages of all, and adds their contents.

        @d5.register("halves")
        class Halves(d5.GradientCompressor):
            def message_bytes(self, elements):
                return 2 * elements

            def compress(self, values, seed):
                return values.numpy().astype(np.float16)

            def expand(self, message, elements):
                return message.numpy().view(np.float16).astype(np.float32)

        d5.distributed_optimizer("consistent_decentralized", optimizer,
                                 exchange={"name": "compressed", "compressor": "halves"})
    """

    leaves_rest = True
    """Whether error feedback may send later what was not sent."""
    by_part = False
    """Whether each parameter's gradient is compressed on its own."""

    def message_bytes(self, elements: int) -> int:
        """Size of a message about that many elements."""
        raise NotImplementedError

    def compress(self, values: Tensor, seed: int) -> Any:
        """An array of that many bytes for float32 values, which are lent; `seed` differs for each
        rank, step and bucket."""
        raise NotImplementedError

    def expand(self, message: Tensor, elements: int) -> Any:
        """The contents of a message: that many float32 elements."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint: everything that is carried from step to step."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint."""


class DistributedOptimizer(Optimizer):
    """Trains on several ranks: base class of everything that `d5.distributed_optimizer` makes, and of
    schemes in Python, with `exchange` or a `step` of their own. The rule of the recipe's optimizer
    updates each rank's parameters.

        class Averaged(d5.DistributedOptimizer):
            def exchange(self, share):
                for parameter in self.network.parameters:
                    parameter.gradient *= share
                    self.ranks.all_reduce(parameter.gradient)
    """

    consistent = True
    """Whether all ranks have the same parameters after every step."""

    ranks: Communicator
    workers: Communicator | None  # ranks that train and need samples; None on a rank that serves
    optimizer: BoundThreeStepOptimizer
    network: Network

    def begin(self, ranks: Communicator, optimizer: BoundThreeStepOptimizer) -> None:
        """Called once, before the first step, on all ranks."""
        self.ranks, self.optimizer, self.network = ranks, optimizer, optimizer.network
        self.workers = ranks

    def exchange(self, share: float) -> None:
        """Called once per step, with this rank's gradients. `share` is the weight of its samples in
        the loss among all ranks. Turns the gradients into the sum over ranks, in place.
        """
        raise NotImplementedError

    def step(self, batch: Batch) -> dict[str, Any]:
        """Called instead of `exchange`: a whole step, by the parts of the rank's optimizer. Returns the
        network's outputs.

            def step(self, batch):
                self.optimizer.begin_step(batch)
                outputs = self.optimizer.run_gradients(batch)
                for parameter in self.network.parameters:
                    parameter.gradient *= self.share(batch)
                    self.ranks.all_reduce(parameter.gradient)
                if self.optimizer.begin_updates():
                    for i in range(len(self.network.parameters)):
                        self.optimizer.update(i)
                    self.optimizer.end_step()
                return outputs
        """
        raise NotImplementedError

    def share(self, batch: Batch) -> float:
        """Weight of this rank's samples in the loss among all ranks. A collective, once per step, if
        ranks have to exchange it."""
        return self.optimizer.share_of(batch)

    def after_step(self) -> None:
        """Called after the updates of a step."""

    def begin_test(self) -> None:
        """Called before each test run, like that of an optimizer."""

    def end_test(self) -> None:
        """Called after each test run: restores the trained parameters, bit for bit."""


DistributedOptimizer.register(BoundDistributedOptimizer)
