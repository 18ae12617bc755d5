# SPDX-License-Identifier: Apache-2.0
"""Custom operators: compiled from C++, or functions of a framework.

    names = d5.op.compile("log_cosh.cpp")             # written against d5/abi.h
    name = d5.op.from_native("aten::silu")            # any function of torch's dispatcher
    name = d5.op.from_native(torch.nn.functional.silu, "Silu", domain="mine")

`@d5.operator` turns a class with `forward` and `backward` into an operator. Networks of every framework
run custom operators, and `d5.test_forward`, `d5.test_gradient` and `d5.bench` accept them like ONNX's.
With `isolate=S` each of these three runs its case in a process of its own for at most S seconds. That
process has the operators that were compiled, loaded or named here, and a class if its module can be
imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from d5._bases import Operator
from d5._d5 import GradContext, InferContext, OpContext
from d5._d5 import compile_operators as _compile
from d5._d5 import custom_op_from_native as _native
from d5._d5 import load_extension as _load
from d5._d5 import register_operator as _register
from d5._isolation import remember_class, remember_extension
from d5._nearest import knows_its_keywords
from d5.errors import Unsupported, ValueError

if TYPE_CHECKING:
    import torch

__all__ = ["compile", "from_native", "load"]


@knows_its_keywords
def compile(source: str | os.PathLike[str], definitions: Mapping[str, str | int] | None = None) -> list[str]:
    """Compiles operators, registers them, and returns their names: `["example.LogCosh"]`.

    `source` is a file in C, C++ or CUDA, or C++ text; `definitions` are macros for it:
    `{"DTYPE": "float"}`. Source that was compiled before is not compiled again. The new operators
    replace operators of the same names in later plans.
    """
    macros = [f"{name}={value}" for name, value in (definitions or {}).items()]
    names = _compile(os.fspath(source), *macros)
    remember_extension("compile_operators", os.fspath(source), *macros)
    return names


@knows_its_keywords
def load(library: str | os.PathLike[str]) -> str:
    """Loads a library of operators, a plug-in or a Python file, like `--load`; returns what it was."""
    what = _load(os.fspath(library))
    remember_extension("load_extension", os.fspath(library))
    return what


@knows_its_keywords
def from_native(function: str | Callable[..., Any], name: str = "", domain: str = "torch") -> str:
    """Registers a torch function as an operator; returns the operator's full name.

    A function of torch's dispatcher is given by its name ("aten::silu"), and is called without Python.
    Any other callable receives tensors, and the node's attributes as keywords; it returns a tensor or
    several, and autograd computes its gradient. Shapes come from a call on the meta device.
    """
    if isinstance(function, str):
        operator = _native("torch", function)
        remember_extension("custom_op_from_native", "torch", function)
        return operator
    if not name:
        raise ValueError(f"d5.op.from_native: {function!r} needs a name as an operator")
    _register(type(name, (_TorchFunction,), {"function": staticmethod(function)}), name, domain, 1)
    operator = f"{domain}.{name}" if domain else name
    remember_class(operator, None)
    return operator


class _TorchFunction(Operator):
    """Calls `function` on tensors over d5's memory."""

    function: Callable[..., Any]

    def infer(self, context: InferContext) -> list[tuple[str, list[int]]]:
        import torch

        inputs = [
            torch.empty(context.shape(i), dtype=getattr(torch, context.dtype(i)), device="meta")
            for i in range(context.input_count)
        ]
        try:
            with torch.no_grad():
                results = self._results(inputs)
        except NotImplementedError as error:
            who = type(self).__name__
            raise Unsupported(f"{who}: its shapes are not known: {error}") from error
        return [(str(y.dtype).removeprefix("torch."), list(y.shape)) for y in results]

    def forward(self, context: OpContext) -> None:
        import torch
        from torch.utils.dlpack import from_dlpack

        inputs = [from_dlpack(context.input(i)) for i in range(context.input_count)]
        with torch.no_grad():
            for i, result in enumerate(self._results(inputs)):
                from_dlpack(context.output(i)).copy_(result)

    def backward(self, context: GradContext) -> None:
        import torch
        from torch.utils.dlpack import from_dlpack

        inputs = [from_dlpack(context.input(i)) for i in range(context.input_count)]
        wanted = [i for i in range(len(inputs)) if context.wants_grad(i)]
        for i in wanted:
            inputs[i].requires_grad_()
        with torch.enable_grad():
            results = self._results(inputs)
        reached = [
            i for i, y in enumerate(results) if context.has_grad_output(i) and y.requires_grad
        ]
        gradients = torch.autograd.grad(
            [results[i] for i in reached],
            [inputs[i] for i in wanted],
            [from_dlpack(context.grad_output(i)) for i in reached],
            allow_unused=True,
            materialize_grads=True,
        )
        for i, gradient in zip(wanted, gradients):
            from_dlpack(context.grad_input(i)).copy_(gradient)

    def _results(self, inputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        results = self.function(*inputs, **self.attributes)
        return results if isinstance(results, (tuple, list)) else (results,)
