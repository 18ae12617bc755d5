# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call"
"""PyTorch's DistributedDataParallel, with its hooks, as a scheme for d5's recipes.

    import d5.torch_ddp
    d5.train("mnist-lenet", distributed="torch_ddp:backend=gloo:hook=power_sgd")

DistributedDataParallel sees the recipe's network as a torch module whose gradients d5 computed, in any
executor. They are exchanged after backpropagation, so step times differ from those of a PyTorch script;
`torch/ddp`, torch's Reducer in C++, overlaps. The hooks' state (the error feedback of PowerSGD) is not
in checkpoints.
"""

from typing import Annotated, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, post_localSGD_hook, powerSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.utils.dlpack import from_dlpack

import d5
from d5._torch_groups import group_of
from d5.errors import NotFound


class _Given(torch.autograd.Function):
    """An autograd function whose gradients are given."""

    @staticmethod
    def forward(ctx: Any, gradients: list[torch.Tensor], *parameters: torch.Tensor) -> torch.Tensor:
        ctx.gradients = gradients
        return torch.zeros(())

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        return None, *ctx.gradients


class _Parameters(nn.Module):
    def __init__(self, values: list[torch.Tensor]) -> None:
        super().__init__()
        self.values = nn.ParameterList(nn.Parameter(value) for value in values)

    def forward(self, gradients: list[torch.Tensor]) -> torch.Tensor:
        result: torch.Tensor = _Given.apply(gradients, *self.values)
        return result


@d5.register("torch_ddp")
class TorchDdp(d5.DistributedOptimizer):
    """torch's DistributedDataParallel from Python: its hooks, over gloo or d5."""

    def __init__(
        self,
        backend: Annotated[str, "d5 or gloo"] = "d5",
        hook: Annotated[str, "none, float16, power_sgd, or post_local"] = "none",
        rank: Annotated[int, "rank of power_sgd's matrices"] = 4,
        begin_at: Annotated[int, "step at which power_sgd or post_local starts"] = 10,
        average_every: Annotated[int, "steps between two averages of parameters in post_local"] = 4,
    ) -> None:
        if hook not in ("none", "float16", "power_sgd", "post_local"):
            raise NotFound(f"hook '{hook}' is unknown; none, float16, power_sgd or post_local")
        self.backend, self.hook, self.rank = backend, hook, rank
        self.begin_at, self.average_every = begin_at, average_every
        self.consistent = hook != "post_local"
        self.averager: PeriodicModelAverager | None = None
        self.trained: list[torch.Tensor] = []

    def begin(self, ranks: d5.Communicator, optimizer: d5.BoundThreeStepOptimizer) -> None:
        self.rank_count, self.network = ranks.size, optimizer.network
        self.group = group_of(self.backend)
        # d5's parameters are in the order in which backpropagation finishes them.
        self.views = [from_dlpack(one.value) for one in reversed(self.network.parameters)]
        # PowerSGD asks for more when a work completes: for several buckets in a different order on each rank.
        whole = sum(view.numel() * view.element_size() for view in self.views) // (1 << 20) + 1
        self.model = nn.parallel.DistributedDataParallel(
            _Parameters(self.views),
            process_group=self.group,
            bucket_cap_mb=whole if self.hook == "power_sgd" else None,
        )
        self._register()

    def _register(self) -> None:
        if self.hook == "float16":
            self.model.register_comm_hook(self.group, default_hooks.fp16_compress_hook)
        elif self.hook == "power_sgd":
            state = powerSGD_hook.PowerSGDState(self.group, self.rank, start_powerSGD_iter=max(self.begin_at, 2))
            self.model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        elif self.hook == "post_local":
            local = post_localSGD_hook.PostLocalSGDState(
                self.group, None, self.begin_at, post_local_gradient_allreduce=False
            )
            self.model.register_comm_hook(local, post_localSGD_hook.post_localSGD_hook)
            self.averager = PeriodicModelAverager(self.average_every, self.begin_at, self.group)

    def exchange(self, share: float) -> None:
        gradients = [from_dlpack(one.gradient) for one in reversed(self.network.parameters)]
        weight = share * self.rank_count  # torch weights all ranks alike
        given = gradients if weight == 1 else [gradient * weight for gradient in gradients]
        self.model.zero_grad()  # late, because torch averages gradients that exist
        self.model(given).backward()
        for parameter, gradient in zip(self.model.parameters(), gradients):
            assert parameter.grad is not None
            gradient.copy_(parameter.grad)

    def after_step(self) -> None:
        if self.averager:
            self.averager.average_parameters(iter(self.model.parameters()))

    def begin_test(self) -> None:
        if self.consistent:
            return
        self.trained = [view.clone() for view in self.views]
        for view in self.views:
            dist.all_reduce(view, group=self.group)
            view /= self.rank_count

    def end_test(self) -> None:
        for view, value in zip(self.views, self.trained):
            view.copy_(value)
        self.trained = []
