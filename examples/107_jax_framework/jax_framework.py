# SPDX-License-Identifier: Apache-2.0
"""JAX as a framework of d5. An operator is a function of jax.numpy; XLA compiles it, and its gradient
(jax.vjp), for the types and shapes of a node while d5 plans; `jax:jit` is a whole network, with its
gradients, as one program. Arrays are passed by DLPack.

    d5 op bench "Softmax 64x1000" --load jax_framework.py --framework jax,torch
    d5 net bench lenet --load jax_framework.py --framework jax,jax:jit
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

from jax_networks import compile_network
from jax_operators import OPERATORS
from jax_planning import MakeFunction, Plan
from jax_programs import ArrayType, compiled, node_function, to_jax


class JaxKernel(d5.Kernel):
    backward_reads_outputs = False  # its program recomputes needed values

    def __init__(self, make: MakeFunction, plan: Plan) -> None:
        count, results = plan.input_count, range(plan.output_count)
        forward = node_function(plan, make)
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


@d5.register
class Jax(d5.Framework):
    name = "jax"
    version = jax.__version__
    kernels = {op: functools.partial(JaxKernel, make) for op, make in OPERATORS.items()}
    executors = {"jit": compile_network}
