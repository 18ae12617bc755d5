# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call,no-untyped-def"
"""d5's parts for torch, and torch's for d5.

    import d5.torch as d5torch

    median = d5torch.custom_op("example.MedianPooling", size=3)      # a function with autograd
    model = d5torch.module(d5.model("lenet"))                        # an nn.Module over d5's memory
    network = d5torch.network(module, example)                       # a d5.Network of an nn.Module
    sampler = d5torch.sampler(loader, ["image", "label"])            # a DataLoader feeds a trainer
    optimizer = d5.optimizer(d5torch.Optimizer(torch.optim.Adam, learning_rate=1e-3), executor)
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Mapping, Sequence

import torch
from torch import nn
from torch.utils.dlpack import from_dlpack

import d5
from d5._torch_optimizer import Optimizer as Optimizer
from d5._torch_sampler import Sampler as sampler
from d5.errors import TypeError, Unsupported, ValueError

__all__ = ["DistributedDataParallel", "Module", "Optimizer", "custom_op", "module", "network", "sampler"]


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _shared(tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Tensors for d5, without a copy if they are dense."""
    for name, tensor in tensors.items():
        if tensor.device.type != "cpu":
            raise Unsupported(f"{name} is on {tensor.device}; d5's executors take tensors of cpu here")
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


class _Run(torch.autograd.Function):
    """One run of an executor, whose inputs and parameters autograd tracks."""

    @staticmethod
    def forward(ctx: Any, caller: _Caller, names: tuple[str, ...], *tensors: torch.Tensor) -> Any:
        ctx.caller, ctx.names, ctx.batch = caller, names, None
        ctx.save_for_backward(*tensors)
        inputs = _shared(dict(zip(names, tensors)))
        if not any(ctx.needs_input_grad):
            outputs = caller.executor.inference(inputs)
        else:
            ctx.batch = caller.executor.forward(inputs, caller.outputs)
            outputs = ctx.batch.outputs
        results = tuple(from_dlpack(outputs[name]) for name in caller.outputs)
        ctx.mark_non_differentiable(*[one for one in results if not one.is_floating_point()])
        return results

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> Any:
        given = {name: one for name, one in zip(ctx.caller.outputs, gradients) if one is not None}
        # A batch runs backward once; for another backward, as with retain_graph, it runs forward again.
        inputs = dict(zip(ctx.names, ctx.saved_tensors))
        batch = ctx.batch or ctx.caller.executor.forward(_shared(inputs), ctx.caller.outputs)
        ctx.batch = None
        batch.backward(_shared(given))
        names = (*ctx.names, *ctx.caller.parameters)
        wanted = zip(names, ctx.needs_input_grad[2:])
        # d5 reuses the memory in the next run.
        return None, None, *(from_dlpack(batch.gradient(n)).clone() if want else None for n, want in wanted)


class _Caller:
    """An executor, with the names of its outputs and trained parameters."""

    def __init__(self, executor: d5.GraphExecutor, parameters: Sequence[str]) -> None:
        self.executor, self.parameters = executor, tuple(parameters)
        self.outputs = executor.network.output_names

    def __call__(self, inputs: Mapping[str, torch.Tensor], parameters: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        results: tuple[torch.Tensor, ...] = _Run.apply(self, tuple(inputs), *inputs.values(), *parameters)
        return results


def custom_op(
    op: str | Sequence[str], *, outputs: int = 1, framework: str = "reference", **attributes: Any
) -> Callable[..., Any]:
    """A function on torch's tensors that runs an operator, with autograd if it has a backward.

    `op` is its full name, "example.MedianPooling", or the result of `d5.op.compile` for a source with
    one operator; `attributes` are those of its node. The function takes as many tensors as the node
    has inputs, and returns a tensor, or a tuple of `outputs` of them.
    """
    names = [op] if isinstance(op, str) else list(op)
    if len(names) != 1:
        raise ValueError(f"custom_op: given {names}, expected the name of one operator")
    domain, _, op_type = names[0].rpartition(".")
    results = [f"y{k}" for k in range(outputs)]
    callers: dict[Any, _Caller] = {}

    def make(tensors: Sequence[torch.Tensor]) -> _Caller:
        network = d5.Network(names[0])
        inputs = [f"x{i}" for i in range(len(tensors))]
        for name, tensor in zip(inputs, tensors):
            network.add_input(name, _name_of(tensor.dtype), list(tensor.shape))
        network.add_node(op_type, inputs, results, domain=domain, **attributes)
        for name in results:
            network.add_output(name)
        wanted = [name for name, tensor in zip(inputs, tensors) if tensor.requires_grad]
        return _Caller(d5.executor(network, [framework], gradients=wanted), [])

    def call(*tensors: torch.Tensor) -> Any:
        key = tuple((tensor.dtype, tuple(tensor.shape), tensor.requires_grad) for tensor in tensors)
        if key not in callers:
            callers[key] = make(tensors)
        given = callers[key]({f"x{i}": tensor for i, tensor in enumerate(tensors)}, [])
        return given[0] if outputs == 1 else given

    call.__name__ = call.__qualname__ = op_type
    call.__doc__ = f"d5's operator {names[0]}."
    return call


class Module(nn.Module):
    """A network as a torch module: its parameters are in d5's memory, and torch's optimizers train
    them.

    Called with the network's inputs, in order or by name, it returns its output, or a tuple of
    outputs. `train()` and `eval()` set the behaviour of dropout and batch normalization.
    """

    def __init__(self, network: d5.Network, framework: str | Sequence[str] = "reference") -> None:
        super().__init__()
        words = framework.split(",") if isinstance(framework, str) else list(framework)
        self._words, self._callers = words, dict[Any, _Caller]()
        self.d5_network, self.input_names = network, network.input_names
        self._names = [one.name for one in network.parameters]
        for one in network.parameters:
            self.register_parameter(one.name.replace(".", "_"), nn.Parameter(from_dlpack(one.value)))

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Any:
        given = {**dict(zip(self.input_names, inputs)), **named}
        if len(inputs) > len(self.input_names) or set(given) != set(self.input_names):
            raise TypeError(f"the module was given {sorted(given)}, expected {self.input_names}")
        wanted = tuple(name for name, tensor in given.items() if tensor.requires_grad)
        if wanted not in self._callers:
            executor = d5.executor(self.d5_network, self._words, gradients=list(wanted))
            self._callers[wanted] = _Caller(executor, self._names)
        caller = self._callers[wanted]
        caller.executor.mode = "training" if self.training else "inference"
        self.d5_network.values_changed()  # torch may have changed them
        results = caller(given, list(self.parameters()))
        return results[0] if len(results) == 1 else results


def module(network: d5.Network, framework: str | Sequence[str] = "reference") -> Module:
    """An `nn.Module` over the network's memory, which runs in d5's executor of `framework`."""
    return Module(network, framework)


def network(module: nn.Module, example: Any, **options: Any) -> d5.Network:
    """Converts a module to a network by torch's export to ONNX: `example` is its argument, a tensor
    or a tuple; `options` are those of `torch.onnx.export`, such as `dynamic_axes`.
    """
    arguments = example if isinstance(example, tuple) else (example,)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{type(module).__name__}.onnx")
        try:
            torch.onnx.export(module, arguments, file, **{"dynamo": False, **options})
        except ImportError as error:  # a package that torch needs for it
            raise Unsupported(f"torch cannot export to ONNX here: {error}") from error
        return d5.Network.load(file)


def DistributedDataParallel(optimizer: d5.Optimizer, **options: Any) -> d5.Optimizer:
    """torch's DistributedDataParallel around a d5 optimizer: the scheme "torch/ddp" with its options."""
    return d5.distributed_optimizer("torch/ddp", optimizer, **options)
