# SPDX-License-Identifier: Apache-2.0
"""JAX as a framework of d5. An operator is a function of jax.numpy; XLA compiles it, and its gradient
(jax.vjp), for the types and shapes of a node while d5 plans. Arrays cross by DLPack.

    d5 op bench "Softmax 64x1000" --load jax_framework.py --framework jax,torch
"""

import functools
import os
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import d5
import jax
import jax.numpy as jnp

config: Any = jax.config
config.update("jax_enable_x64", True)  # else a float64 becomes a float32

from jax_operators import OPERATORS
from jax_planning import Function, MakeFunction, Plan, expect

ArrayType: Any = jax.ShapeDtypeStruct
TYPES = {"float16", "bfloat16", "float32", "float64", "bool"}
TYPES |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


#: What XLA compiled, by program: layers of the same shapes share one.
programs: dict[Any, Function] = {}


def compiled(function: Function, *arguments: Any) -> Function:
    try:
        lowered = jax.jit(function).lower(*arguments)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise d5.Unsupported(f"JAX does not trace it: {error}") from error
    program = (lowered.as_text(), lowered.in_tree, lowered.out_tree)
    if program not in programs:
        programs[program] = lowered.compile()
    return programs[program]


class JaxKernel(d5.Kernel):
    backward_reads_outputs = False  # its program computes again what it needs

    def __init__(self, make: MakeFunction, plan: Plan) -> None:
        count, results = plan.input_count, range(plan.output_count)
        types = [plan.dtype(i) for i in range(count) if plan.has_input(i)]
        types += [plan.output_dtype(k) for k in results]
        expect(TYPES.issuperset(types), f"element types {sorted({*types} - TYPES)}")
        function = make(plan)

        def forward(*inputs: Any) -> Any:
            outputs = function(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            return tuple(y.astype(plan.output_dtype(k)) for k, y in enumerate(outputs))

        self.wanted = [i for i in range(count) if plan.wants_grad(i)]
        real = [k for k in results if "float" in plan.output_dtype(k)]

        def backward(inputs: list[Any], gradients: list[Any]) -> Any:
            def of_wanted(*wanted: Any) -> Any:
                given = dict(zip(self.wanted, wanted))
                outputs = forward(*(given.get(i, x) for i, x in enumerate(inputs)))
                return tuple(outputs[k] for k in real)

            _, pull_back = jax.vjp(of_wanted, *(inputs[i] for i in self.wanted))
            return pull_back(tuple(gradients[k] for k in real))

        inputs = [
            ArrayType(plan.shape(i), plan.dtype(i)) if plan.has_input(i) else None
            for i in range(count)
        ]
        self.run = compiled(forward, *inputs)
        if self.wanted:
            self.outputs = jax.eval_shape(forward, *inputs)
            self.run_back = compiled(backward, inputs, list(self.outputs))

    def forward(self, inputs: list[Any]) -> Any:
        return self.run(*map(to_jax, inputs))

    def backward(self, inputs: list[Any], outputs: list[Any], output_gradients: list[Any]) -> Any:
        gradients = [
            jnp.zeros(y.shape, y.dtype) if dy is None else to_jax(dy)
            for y, dy in zip(self.outputs, output_gradients)
        ]
        found = dict(zip(self.wanted, self.run_back([*map(to_jax, inputs)], gradients)))
        return [found.get(i) for i in range(len(inputs))]


def to_jax(tensor: Any) -> Any:
    return None if tensor is None else jax.dlpack.from_dlpack(tensor)


class Jax(d5.Framework):
    name = "jax"
    version = jax.__version__
    kernels = {op: functools.partial(JaxKernel, make) for op, make in OPERATORS.items()}


d5.add_framework(Jax())
