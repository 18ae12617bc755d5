# SPDX-License-Identifier: Apache-2.0
"""What users derive from for training on several ranks."""

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


class GradientExchange:
    """Base of how each rank's gradients become those of all, written in Python: bucket by bucket,
    while backpropagation goes on.

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
        """Once, before anything else: whose gradients they are."""

    def start(self, bucket: GradientBucket, step: ExchangeStep) -> Any:
        """Makes `bucket.data` the sum over ranks of `step.weight` times it, the same bits on every
        rank; on all ranks in the same order. Returns None where it is done, or what is under way, an
        object with `wait()` and `done()`."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


class GradientCompressor:
    """Base of what sums gradients over ranks in fewer bytes, written in Python: every rank gets the
    messages of all, and adds what they say.

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
    """Whether what was not sent may be sent later."""
    by_part = False
    """Whether each parameter's gradient is compressed on its own."""

    def message_bytes(self, elements: int) -> int:
        """Of a message about so many elements."""
        raise NotImplementedError

    def compress(self, values: Tensor, seed: int) -> Any:
        """An array of so many bytes of float32 values, which are lent; `seed` is another number for
        each rank, step and bucket."""
        raise NotImplementedError

    def expand(self, message: Tensor, elements: int) -> Any:
        """What such a message says: float32, so many elements."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


class DistributedOptimizer(Optimizer):
    """How ranks train together: all that `d5.distributed_optimizer` makes. Base of a scheme written
    in Python, with `exchange` or a `step` of its own. The rule of the recipe's optimizer updates
    each rank's parameters.

        class Averaged(d5.DistributedOptimizer):
            def exchange(self, share):
                for parameter in self.network.parameters:
                    parameter.gradient *= share
                    self.ranks.all_reduce(parameter.gradient)
    """

    consistent = True
    """Whether all ranks have the same parameters after every step."""

    ranks: Communicator
    workers: Communicator | None  # those that train, to whom samples are given; None where one serves
    optimizer: BoundThreeStepOptimizer
    network: Network

    def begin(self, ranks: Communicator, optimizer: BoundThreeStepOptimizer) -> None:
        """Once, before the first step, on all ranks."""
        self.ranks, self.optimizer, self.network = ranks, optimizer, optimizer.network
        self.workers = ranks

    def exchange(self, share: float) -> None:
        """Once a step, with this rank's gradients, which count `share`, as what the loss counts in
        its samples does among all: makes them the sum over ranks, in place.
        """
        raise NotImplementedError

    def step(self, batch: Batch) -> dict[str, Any]:
        """In place of `exchange`: a whole step, by the parts of the rank's optimizer. Returns the
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
        """What of the loss counts in this rank's samples, among all. A collective where ranks have
        to tell each other, once a step."""
        return self.optimizer.share_of(batch)

    def after_step(self) -> None:
        """After the updates of a step."""

    def begin_test(self) -> None:
        """Before each test run, as that of an optimizer."""

    def end_test(self) -> None:
        """After it."""


DistributedOptimizer.register(BoundDistributedOptimizer)
