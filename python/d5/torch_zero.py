# SPDX-License-Identifier: Apache-2.0
"""PyTorch's ZeroRedundancyOptimizer as an optimizer for d5's recipes, under any scheme.

    import d5.torch_zero
    d5.train("mnist-lenet", overrides=["optimizer.name=torch_zero:rule=Adam:learning_rate=0.001"],
             distributed="torch/ddp")
"""

from typing import Annotated, Any

import torch
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.utils.dlpack import from_dlpack

import d5
from d5._torch_groups import group_of
from d5.errors import NotFound, Unsupported


@d5.register("torch_zero")
class TorchZero(d5.Optimizer):
    """torch's ZeroRedundancyOptimizer: each rank updates some parameters and sends them to the others."""

    def __init__(
        self,
        learning_rate: float = 0.01,
        rule: Annotated[str, "class of torch.optim"] = "SGD",
        backend: Annotated[str, "backend of messages: d5 or gloo"] = "d5",
    ) -> None:
        if not isinstance(getattr(torch.optim, rule, None), type):
            raise NotFound(f"torch.optim has no class '{rule}', such as SGD or Adam")
        self.learning_rate, self.rule, self.backend = learning_rate, rule, backend
        self.optimizer: ZeroRedundancyOptimizer | None = None

    def update(self, gradients: d5.GradientSource) -> None:
        if self.optimizer is None:
            self.parameters = [from_dlpack(one.value) for one in gradients.network.parameters]
            self.optimizer = ZeroRedundancyOptimizer(
                self.parameters,
                getattr(torch.optim, self.rule),
                process_group=group_of(self.backend),
                lr=self.learning_rate,
            )
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate  # set by a schedule
        for parameter, one in zip(self.parameters, gradients.network.parameters):
            parameter.grad = from_dlpack(one.gradient)
        self.optimizer.step()

    def state(self) -> dict[str, Any]:
        raise Unsupported("torch_zero: each rank knows its part of the state alone; train without checkpoints")

    def restore(self, state: dict[str, Any]) -> None:
        raise Unsupported("torch_zero: trains without checkpoints")
