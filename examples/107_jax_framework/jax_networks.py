# SPDX-License-Identifier: Apache-2.0
"""A whole network as one function, which XLA compiles with its gradients."""

from typing import Any

import d5
import jax
import jax.numpy as jnp
from jax_operators import OPERATORS
from jax_planning import Function
from jax_programs import ArrayType, compiled, node_function, to_jax

Arrays = dict[str, Any]


def compile_network(plan: d5.ModelPlan) -> Function:
    lacking = [node.node for node in plan.nodes if operator_of(node.node) not in OPERATORS]
    d5.expect_none_untranslated(lacking, "JAX")
    steps = [
        (node.node, node_function(node, OPERATORS[operator_of(node.node)])) for node in plan.nodes
    ]
    constants = {name: to_jax(value) for name, value in plan.constants.items()}

    def values_of(constants: Arrays, inputs: Arrays, added: Arrays) -> Arrays:
        """Computes all values of the network; `added` holds terms added to values by name."""
        values: Arrays = {}

        def put(name: str, value: Any) -> None:
            values[name] = value + added[name] if name in added else value

        for name, value in {**constants, **inputs}.items():
            put(name, value)
        for node, function in steps:
            outputs = function(*(values[name] if name else None for name in node.inputs))
            for name, value in zip(node.outputs, outputs):
                put(name, value)
        return values

    def run(constants: Arrays, inputs: Arrays) -> Any:
        if not plan.loss:
            values = values_of(constants, inputs, {})
            return tuple(values[name] for name in plan.output_names)

        # The derivative of the loss by zeros added to a tensor is its gradient by that tensor.
        def loss_of(added: Arrays) -> Any:
            values = values_of(constants, inputs, added)
            return values[plan.loss], tuple(values[name] for name in plan.output_names)

        zeros = {name: jnp.zeros(plan.shape(name), plan.dtype(name)) for name in plan.gradients}
        loss, pull_back, outputs = jax.vjp(loss_of, zeros, has_aux=True)
        (gradients,) = pull_back(jnp.ones_like(loss))
        return (*outputs, *(gradients[name] for name in plan.gradients))

    shapes = {name: ArrayType(plan.shape(name), plan.dtype(name)) for name in plan.input_names}
    program = compiled(run, constants, shapes)
    return lambda inputs: program(constants, dict(zip(plan.input_names, map(to_jax, inputs))))


def operator_of(node: d5.Node) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type
