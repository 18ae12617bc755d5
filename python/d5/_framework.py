# SPDX-License-Identifier: Apache-2.0
"""Frameworks in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from d5 import _d5
from d5._bases import Optimizer
from d5._d5 import GraphExecutor, ModelPlan, PlanContext
from d5._isolation import remember_class
from d5._nearest import Hooked, expect_known
from d5._parameters import shown
from d5.errors import TypeError


class Kernel(Hooked):
    """Base class of kernels in Python: runs one node, for the types and shapes that it was planned
    for.

    Inputs are `d5.Tensor` over d5's own memory, or None if the node leaves one out; they are
    read-only and valid during the call. Results are anything that DLPack or NumPy reads (an array,
    or a tuple of them), with exactly the type and shape of the node's output; they are copied into
    d5's memory, unless they are there already.
    """

    #: Whether `backward` reads them; if not, their memory is reused, and it receives None instead.
    backward_reads_inputs: bool = True
    backward_reads_outputs: bool = True

    def __init__(self, plan: PlanContext | None = None) -> None:
        """Called for each node, while d5 plans; a kernel without state needs none of its own."""

    def forward(self, inputs: list[Any]) -> Any:
        """The node's outputs; an output that the node leaves out may be None."""
        raise NotImplementedError

    def backward(self, inputs: list[Any], outputs: list[Any], output_gradients: list[Any]) -> Any:
        """A gradient per input; None for those without `plan.wants_grad`. An output gradient of None
        counts as zeros."""
        raise NotImplementedError


class Framework(Hooked):
    """Base class of frameworks in Python: a name, and the kernels of operators.

        class Relu(d5.Kernel):
            def forward(self, inputs):
                return np.maximum(inputs[0], 0)

        @d5.register
        class NumPy(d5.Framework):
            name = "numpy"
            version = np.__version__
            kernels = {"Relu": Relu}

        d5.executor(network, ["numpy", "reference"])

    `kernels` maps an operator ("Relu", "com.example.Gelu") to what makes its kernel: a class, or
    any other callable, called with a `d5.PlanContext`. For an unsupported node it raises
    `d5.Unsupported`, and the next framework is tried.

    `executors` maps a name to a compiler of whole networks: called with a `d5.ModelPlan`, it returns
    a callable for a run. The callable receives the list of inputs, in the order of `input_names`,
    and returns a tuple of the outputs, in the order of `output_names`, followed by the gradients of
    `loss` by `gradients`. For an unsupported network it raises `d5.Unsupported`.

        def whole(plan):
            steps = [(node.node, functions[node.node.op_type]) for node in plan.nodes]

            def run(inputs):
                values = {**plan.constants, **dict(zip(plan.input_names, inputs))}
                for node, function in steps:
                    values[node.outputs[0]] = function(*(values[name] for name in node.inputs))
                return tuple(values[name] for name in plan.output_names)

            return run

        class NumPy(d5.Framework):
            ...
            executors = {"whole": whole}

        d5.executor(network, ["numpy:whole"])

    An executor may also be a class derived from `d5.GraphExecutor`. `optimizers` maps names to
    classes derived from `d5.Optimizer`, for `d5.optimizer("numpy/sgd", executor)`.
    """

    name: str = ""
    version: str = ""
    kernels: Mapping[str, Callable[[PlanContext], Kernel]] = {}
    executors: Mapping[str, Callable[[ModelPlan], Callable[[list[Any]], Any]] | type[GraphExecutor]] = {}
    optimizers: Mapping[str, Callable[..., Optimizer]] = {}


def add_framework(framework: Framework) -> None:
    """Registers the framework under its name.

    Registered again under the same name and version, as by a notebook's cell, its kernels replace
    the former ones in executors that are made later.

    Raises: UnknownOption for a kernel of an operator that ONNX does not have.
    """
    from d5._entries import add_of_framework

    for table, holds in (("kernels", '{"Relu": Relu}'), ("executors", '{"whole": whole}'), ("optimizers", '{"sgd": Sgd}')):
        parts = getattr(framework, table)
        if not isinstance(parts, Mapping) or not all(isinstance(name, str) and callable(made) for name, made in parts.items()):
            raise TypeError(f"framework {framework.name}: {table} is {shown(parts)}, expected a dict from names to what makes them: {holds}")
    for operator in framework.kernels:
        if "." not in operator:  # a domain's operators may be registered later
            expect_known(f"framework {framework.name}: ONNX", "operator", operator, _d5.operators())
    whole = {name: made for name, made in framework.executors.items() if _is_executor(made)}
    compiled = {name: made for name, made in framework.executors.items() if name not in whole}
    _d5._add_framework(framework, compiled, bool(whole or framework.optimizers))
    add_of_framework(framework.name, whole, framework.optimizers)
    remember_class(framework.name, type(framework))


def _is_executor(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, GraphExecutor)
