# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call,no-untyped-def"
"""d5's parts for torch, and torch's for d5.

    import d5.torch as d5torch

    median = d5torch.custom_op("example.MedianPooling", size=3)      # a function with autograd
    model = d5torch.module(d5.model("lenet"))                        # an nn.Module over d5's memory
    network = d5torch.network(module, example)                       # a d5.Network of an nn.Module
    sampler = d5torch.sampler(loader, ["image", "label"])            # a DataLoader feeds a trainer
    loader = torch.utils.data.DataLoader(d5.dataset("mnist").train)  # and reads d5's data
    optimizer = d5.optimizer(d5torch.Optimizer(torch.optim.Adam, learning_rate=1e-3), executor)
"""

from __future__ import annotations

import inspect
import os
import tempfile
from typing import Any, Callable, Mapping, Sequence, cast

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves
from torch.utils.dlpack import from_dlpack

import d5
from d5._nearest import expect_known, knows_its_keywords
from d5 import _d5, _torch_collate as _torch_collate
from d5._parameters import shown
from d5._torch_memory import NetworkMemory, statistics_of
from d5._torch_optimizer import Optimizer as Optimizer
from d5._torch_sampler import Sampler as sampler
from d5._torch_trial import Held, called, described, name_of, refuse_changed, try_other_batch
from d5.errors import TypeError, Unsupported, ValueError

__all__ = ["DistributedDataParallel", "Module", "Optimizer", "custom_op", "module", "network", "sampler"]


def _way_to_torch(given: object) -> str:
    return "; torch.from_numpy(array) is one" if isinstance(given, np.ndarray) else ""


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
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> Any:
        return None, None, *_Slopes.apply(ctx, len(gradients), *gradients, *ctx.saved_tensors)


class _Slopes(torch.autograd.Function):
    """The gradients of a run: a function of its output gradients, inputs and parameters that has no
    derivative. torch's `once_differentiable` refuses one only by the output gradients."""

    @staticmethod
    def forward(ctx: Any, run: Any, count: int, *tensors: torch.Tensor | None) -> Any:
        gradients, saved = tensors[:count], cast("tuple[torch.Tensor, ...]", tensors[count:])
        caller, inputs = run.caller, dict(zip(run.names, saved))
        given = {name: one for name, one in zip(caller.outputs, gradients) if one is not None}
        caller.begin(saved[len(inputs) :])
        # A batch runs backward once; for another backward, as with retain_graph, it runs forward again.
        batch = run.batch or caller.executor.forward(_shared(inputs), caller.outputs)
        run.batch = None
        batch.backward(_shared(given))
        wanted = zip((*run.names, *caller.parameters), run.needs_input_grad[2:])
        # d5 reuses the memory in the next run.
        return tuple(from_dlpack(batch.gradient(name)).clone() if want else None for name, want in wanted)

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor | None) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable: d5 computes "
            "first derivatives"
        )


class _Caller:
    """An executor, with the names of its outputs and trained parameters; `begin` is called with the
    parameters before they are read."""

    def __init__(
        self,
        executor: d5.GraphExecutor,
        parameters: Sequence[str] = (),
        begin: Callable[[Sequence[torch.Tensor]], None] = lambda parameters: None,
    ) -> None:
        self.executor, self.parameters, self.begin = executor, tuple(parameters), begin
        self.outputs = executor.network.output_names

    def __call__(self, inputs: Mapping[str, torch.Tensor], parameters: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        results: tuple[torch.Tensor, ...] = _Run.apply(self, tuple(inputs), *inputs.values(), *parameters)
        return results


class _Operator:
    """An operator as a function on torch's tensors (`custom_op`)."""

    def __init__(self, op: str, outputs: int, framework: str, attributes: dict[str, Any]) -> None:
        self._given = op, outputs, framework, attributes
        self._callers: dict[Any, _Caller] = {}
        self.__name__ = self.__qualname__ = op.rpartition(".")[2]
        self.__doc__ = f"d5's operator {op}."

    def __call__(self, *tensors: torch.Tensor) -> Any:
        for i, one in enumerate(tensors):
            if not isinstance(one, torch.Tensor):
                raise TypeError(f"{self._given[0]}: input {i} is {shown(one)}, expected a tensor of torch{_way_to_torch(one)}")
        key = tuple((tensor.dtype, tuple(tensor.shape), tensor.requires_grad) for tensor in tensors)
        if key not in self._callers:
            self._callers[key] = self._make(tensors)
        given = self._callers[key]({f"x{i}": tensor for i, tensor in enumerate(tensors)}, [])
        return given[0] if len(given) == 1 else given

    def _make(self, tensors: Sequence[torch.Tensor]) -> _Caller:
        op, outputs, framework, attributes = self._given
        network = d5.Network(op)
        domain, _, op_type = op.rpartition(".")
        inputs = [f"x{i}" for i in range(len(tensors))]
        results = [f"y{k}" for k in range(outputs)]
        for name, tensor in zip(inputs, tensors):
            network.add_input(name, name_of(tensor.dtype), list(tensor.shape))
        network.add_node(op_type, inputs, results, domain=domain, **attributes)
        for name in results:
            network.add_output(name)
        wanted = [name for name, tensor in zip(inputs, tensors) if tensor.requires_grad]
        return _Caller(d5.executor(network, [framework], gradients=wanted))

    def __reduce__(self) -> Any:
        return _Operator, self._given

    def __repr__(self) -> str:
        return f"<d5.torch.custom_op {self._given[0]}>"


@knows_its_keywords
def custom_op(
    op: str | Sequence[str], *, outputs: int = 1, framework: str = "reference", **attributes: Any
) -> Callable[..., Any]:
    """A function on torch's tensors that runs an operator, with autograd if it has a backward.

    `op` is its full name, "example.MedianPooling", or the result of `d5.op.compile` for a source with
    one operator; `attributes` are those of its node. The function takes as many tensors as the node
    has inputs, and returns a tensor, or a tuple of `outputs` of them. It has first derivatives:
    torch refuses to differentiate it twice.
    """
    names = [op] if isinstance(op, str) else list(op)
    if len(names) != 1:
        raise ValueError(f"custom_op: given {names}, expected the name of one operator")
    if outputs < 1:
        raise ValueError(f"d5.torch.custom_op: outputs is {outputs}, expected the number of the operator's outputs, at least 1")
    return _Operator(names[0], outputs, framework, attributes)


class Module(nn.Module):
    """A network as a torch module: its parameters are in d5's memory, and torch's optimizers train
    them. They have the network's names. Running statistics of batch normalization and constants of
    the module that the network was exported from are buffers, so that `state_dict` fits that module.

    Called with the network's inputs, in order or by name, it returns its output, or a tuple of
    outputs. `train()` and `eval()` set the behaviour of dropout and batch normalization. Parameters
    that torch moves to other memory (`p.data = t`, `load_state_dict(assign=True)`) are copied into
    the network's before each run; other types and devices than the network's are refused.

    Raises: TypeError, ShapeError, Unsupported for parameters that the network cannot hold; torch's
    RuntimeError for second derivatives.
    """

    def __init__(self, network: d5.Network, framework: str | Sequence[str] = "reference") -> None:
        super().__init__()
        words = framework.split(",") if isinstance(framework, str) else list(framework)
        self._words, self._callers = words, dict[Any, _Caller]()
        self.d5_network, self.input_names = network, network.input_names
        self._memory = NetworkMemory(network)
        for name, view in zip(self._memory.names, self._memory.views):
            _add(self, name, nn.Parameter(view) if name in self._memory.parameters else view.detach())
        self._memory.live(self._tensors())
        self.register_load_state_dict_pre_hook(_leave_out_counts)
        self.register_load_state_dict_post_hook(_keep_constants)

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Any:
        """Runs the network. Raises TypeError unless each of its inputs is given exactly once."""
        given = {**dict(zip(self.input_names, inputs)), **named}
        twice = [name for name in self.input_names[: len(inputs)] if name in named]
        if len(inputs) > len(self.input_names) or twice:
            was = f"'{twice[0]}' in order and by name" if twice else f"{len(inputs)} inputs in order"
            raise TypeError(f"the module was given {was}, expected each of {self.input_names} once")
        if set(given) != set(self.input_names):
            raise TypeError(f"the module was given {sorted(given)}, expected {self.input_names}")
        for name, tensor in given.items():
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"the module's input '{name}' is {shown(tensor)}, expected a tensor of torch")
        wanted = tuple(name for name, tensor in given.items() if tensor.requires_grad)
        if wanted not in self._callers:
            executor = d5.executor(self.d5_network, self._words, gradients=list(wanted))
            self._callers[wanted] = _Caller(executor, self._memory.parameters, self._take_in)
        caller, tensors = self._callers[wanted], self._tensors()
        caller.executor.mode = "training" if self.training else "inference"
        self._take_in(tensors)
        results = caller(given, tensors[: len(self._memory.parameters)])
        self._memory.give_back(tensors)
        return results[0] if len(results) == 1 else results

    def _tensors(self) -> list[torch.Tensor]:
        """Parameters, then statistics, as they are now."""
        places = [name.rpartition(".") for name in self._memory.names]
        return [getattr(self.get_submodule(owner), last) for owner, _, last in places]

    def _take_in(self, tensors: Sequence[torch.Tensor]) -> None:
        self._memory.take_in(tensors)
        self.d5_network.values_changed()  # torch may have changed them

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_callers": {}, "_memory": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._memory = NetworkMemory(self.d5_network)
        tensors = self._tensors()
        self._memory.take_in(tensors)
        for view, tensor in zip(self._memory.views, tensors):
            tensor.data = view
        self._memory.live(tensors)


def _add(module: nn.Module, name: str, tensor: torch.Tensor) -> None:
    """Registers a tensor in a module within the module for each dot in its name."""
    *path, last = name.split(".")
    try:
        for part in path:
            if part not in module._modules:
                module.add_module(part, nn.Module())
            module = module.get_submodule(part)
        if isinstance(tensor, nn.Parameter):
            module.register_parameter(last, tensor)
        else:
            module.register_buffer(last, tensor)
    except KeyError as error:
        raise ValueError(
            f"d5.torch.module: '{name}' is no name for a tensor of a torch module: {error}; "
            f"network.rename('{name}', ...) gives it another"
        ) from error


def _leave_out_counts(module: nn.Module, state: dict[str, Any], *_: Any) -> None:
    """torch's batch normalization counts batches, which a network does not."""
    for name in list(state):
        if name.endswith(".num_batches_tracked") and name.replace("num_batches_tracked", "running_mean") in state:
            del state[name]


def _keep_constants(module: nn.Module, keys: Any) -> None:
    """A constant that is missing in a state keeps its value: torch leaves out buffers that are not persistent."""
    assert isinstance(module, Module)
    for name in set(keys.missing_keys) & set(module._memory.constants):
        keys.missing_keys.remove(name)


@knows_its_keywords
def module(network: d5.Network, framework: str | Sequence[str] = "reference") -> Module:
    """An `nn.Module` over the network's memory, which runs in d5's executor of `framework`."""
    return Module(network, framework)


def _expect_options(module: nn.Module, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Raises: UnknownOption, ValueError for options of `network` that torch's export would refuse or mistake."""
    own = [*inspect.signature(network).parameters][1:-1]
    taken = [name for name in inspect.signature(torch.onnx.export).parameters if name not in ("model", "args", "f")]
    for name in options:
        expect_known("d5.torch.network", "keyword", name, own + taken)
    tensors = [one for one in tree_leaves(arguments) if isinstance(one, torch.Tensor)]
    parts = {name for kind in (module.named_parameters, module.named_buffers) for name, _ in kind()}
    for option in ("input_names", "output_names"):
        names = list(options.get(option) or [])
        given = f"d5.torch.network: {option} is {shown(names)}"
        if len(set(names)) < len(names):
            raise ValueError(f"{given}, expected each name once")
        for name in names:
            if name in parts:
                raise ValueError(f"{given}, and '{name}' is a parameter or a buffer of the module; expected other names")
        if option == "input_names" and len(names) > len(tensors):
            raise ValueError(f"{given}, expected one name for each tensor in example, which has {len(tensors)}")


def _explain_run(module: nn.Module, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Raises: ValueError if the module does not run, or has fewer outputs than names; the export failed."""
    try:
        with torch.random.fork_rng(devices=[]):
            outputs = called(module, arguments)
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        examples = ", ".join(map(described, arguments))
        raise ValueError(f"d5.torch.network: the module cannot run on example ({examples}): {first}") from error
    names = options.get("output_names") or []
    count = len(tree_leaves(outputs))
    if len(names) > count:
        raise ValueError(f"d5.torch.network: output_names is {shown(list(names))}, expected at most {count}, one for each output")


@knows_its_keywords
def network(module: nn.Module, example: Any, *, dynamic: bool = False, **options: Any) -> d5.Network:
    """Converts a module to a network by torch's export to ONNX: `example` is its argument, a tensor
    or a tuple; `options` are those of `torch.onnx.export`, such as `input_names`.

    The network has the module's layers, also those that an export for inference folds, and its
    parameters by their names. Buffers, and parameters that do not require gradients, are constants
    (`parameter_notes`); `d5.unfreeze` makes them parameters. Dropout of a module in `eval()` is left
    out: export it in `train()` to train it. With `dynamic` the first dimension of each input is open
    ("batch"); the network is then run with another batch size and compared with the module. A
    parameter that the module has under several names, as tied weights, has the first of them alone:
    `load_state_dict(state, strict=False)` exchanges states with that module. The module stays as it
    is.

    Raises: UnknownOption, TypeError, ValueError for wrong options, an example on which the module does not run, and a
    module that computes with the example's batch as a number if `dynamic`; Unsupported for a module whose forward
    changes a parameter, or a buffer that is no running statistic of batch normalization.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"d5.torch.network: module is {shown(module)}, expected an nn.Module")
    for option in ("input_names", "output_names"):
        if isinstance(options.get(option), str):
            raise TypeError(f"d5.torch.network: {option} is {shown(options[option])}, expected a list of names: [{shown(options[option])}]")
    arguments = example if isinstance(example, tuple) else (example,)
    for one in arguments:
        if isinstance(one, np.ndarray):
            raise TypeError(
                f"d5.torch.network: example is {shown(one)}, expected a tensor of torch{_way_to_torch(one)}"
            )
    _expect_options(module, arguments, options)
    how = {"dynamo": False, "training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    if not options.get("dynamo"):  # else the export writes equal parameters as one, which then train as one
        how["keep_initializers_as_inputs"] = True
    if dynamic:
        taken = list(inspect.signature(module.forward).parameters)[: len(arguments)]
        names = options.setdefault("input_names", taken)
        how["dynamic_axes"] = {name: {0: "batch"} for name in names}
    buffers = {name: one.detach().clone() for name, one in module.named_buffers()}
    frozen = {*buffers, *(name for name, one in module.named_parameters() if not one.requires_grad)}
    held = Held(module)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{type(module).__name__}.onnx")
        try:
            with torch.random.fork_rng(devices=[]):
                torch.onnx.export(module, arguments, file, **{**how, **options})
        except ImportError as error:  # a package that torch needs for it
            raise Unsupported(f"torch cannot export to ONNX here: {error}") from error
        except Exception as error:
            _explain_run(module, arguments, options)
            raise error
        finally:  # the export runs the module, in training with effects on statistics
            changed = held.restore()
        exported = d5.Network.load(file)
        refuse_changed(changed, statistics_of(exported))
        if dynamic:
            try:
                try_other_batch(module, arguments, d5.Network.load(file), options["input_names"])
            finally:
                held.restore()
    for name in statistics_of(exported):
        if name in buffers:
            exported.feed(name, buffers[name])
    _d5._freeze_parameters(exported, [one.name for one in exported.parameters if one.name in frozen])
    return exported


@knows_its_keywords
def DistributedDataParallel(optimizer: d5.Optimizer, **options: Any) -> d5.Optimizer:
    """torch's DistributedDataParallel around a d5 optimizer: the scheme "torch/ddp" with its options."""
    return d5.distributed_optimizer("torch/ddp", optimizer, **options)
